// Element types of the standard, how each is stored in memory, and rounding to each float format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace assay {

// Numbered as TensorProto.DataType.
enum class ElementType : std::uint8_t {
  undefined = 0,
  f32 = 1,
  u8 = 2,
  i8 = 3,
  u16 = 4,
  i16 = 5,
  i32 = 6,
  i64 = 7,
  string = 8,
  boolean = 9,
  f16 = 10,
  f64 = 11,
  u32 = 12,
  u64 = 13,
  c64 = 14,
  c128 = 15,
  bf16 = 16,
  f8e4m3fn = 17,
  f8e4m3fnuz = 18,
  f8e5m2 = 19,
  f8e5m2fnuz = 20,
  u4 = 21,
  i4 = 22,
  f4e2m1 = 23,
  f8e8m0 = 24,
  u2 = 25,
  i2 = 26,
  f6e2m3 = 27,
  f6e3m2 = 28,
};
inline constexpr int kElementTypeCount = 29;

// How elements lie in memory. Every float narrower than 32 bits is held as a float (which
// represents it exactly), every integer narrower than 8 bits in 8: kernels then see few kinds.
enum class Storage : std::uint8_t {
  f32,
  f64,
  c64,
  c128,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  boolean,
  string
};

// Families of types that share a way of computing.
enum class Domain : std::uint8_t {
  real,
  signed_integer,
  unsigned_integer,
  boolean,
  complex,
  text,
  none
};

// ElementType::undefined has no storage; asking for it is a defect, its domain is `none`.
Storage storage_of(ElementType type);
Domain domain_of(ElementType type);
inline bool is_real(ElementType t) { return domain_of(t) == Domain::real; }
inline bool is_integer(ElementType t) {
  return domain_of(t) == Domain::signed_integer || domain_of(t) == Domain::unsigned_integer;
}
// Real, integer and boolean types: those whose elements reals() gives as numbers.
inline bool has_numbers(ElementType t) {
  return t != ElementType::undefined && domain_of(t) != Domain::text &&
         domain_of(t) != Domain::complex;
}
std::size_t storage_size(ElementType type);  // bytes in memory; sizeof(std::string) for text
int bit_width(ElementType type);             // bits an element has in a file; 0 for text

// "f32", "bf16", "f8e4m3fn", "bool", "string", … as case files and JSON print them.
std::string_view short_name(ElementType type);
std::optional<ElementType> element_type_from_short_name(std::string_view name);
// "float", "bfloat16", "float8e4m3fn", … as the standard's "tensor(float)" spells them.
std::string_view standard_name(ElementType type);
std::optional<ElementType> element_type_from_standard_name(std::string_view name);

// A binary float format. `largest` is the largest finite value; overflow gives infinity, or NaN
// where the format has no infinity, or `largest` where it has neither (float4, float6).
struct FloatFormat {
  int precision;     // bits of significand with the hidden one
  int min_exponent;  // of the smallest normal: 2^min_exponent
  double largest;
  bool has_infinity;
  bool has_nan;
  bool has_negative_zero;
  bool has_sign;  // float8e8m0 has none
};
const FloatFormat& format_of(ElementType type);  // real types only

// Nearest value of the format, ties to even; subnormals kept. With `saturate`, what is beyond the
// largest value becomes the largest one (Cast's rule for float8), else infinity or NaN.
// NaN becomes -0 in float4 and float6, which have none: the standard's own tests say so (its text
// about float4 says 6). float8e8m0 rounds as round_to_e8m0(…, nearest, saturate).
double round_to_format(ElementType type, double value, bool saturate);
inline double round_to(ElementType type, double value, bool saturate = false) {
  if (type == ElementType::f32 && !saturate) return static_cast<double>(static_cast<float>(value));
  return round_to_format(type, value, saturate);
}

// Cast's `round_mode` for float8e8m0. `nearest` takes a tie upward.
enum class PowerRounding : std::uint8_t { up, down, nearest };
// A power of two from 2^-127 to 2^127, or NaN. The value is rounded first; a power outside that
// range, zero and infinity become the nearer end with `saturate`, else NaN. Negative values, which
// the standard leaves open, give NaN.
double round_to_e8m0(double value, PowerRounding mode = PowerRounding::up, bool saturate = true);

// Wraps as two's complement of the type's width; integer types only.
std::int64_t wrap_signed(ElementType type, std::int64_t value);
std::uint64_t wrap_unsigned(ElementType type, std::uint64_t value);

// Smallest and largest value of an integer or boolean type.
std::int64_t smallest_integer(ElementType type);
std::uint64_t largest_integer(ElementType type);

// Bit patterns in files and in BitCast: the low bit_width bits of the result. A value that the
// format lacks is rounded to it; NaNs keep sign and payload as far as the format has room.
std::uint64_t to_bits(ElementType type, double value);   // real types
double from_bits(ElementType type, std::uint64_t bits);  // real types

}  // namespace assay

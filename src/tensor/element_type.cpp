#include "tensor/element_type.h"

#include <array>
#include <complex>
#include <string>

#include "base/check.h"
#include "tensor/float_format.h"

namespace assay {
namespace {

struct Traits {
  std::string_view short_name;
  std::string_view standard_name;
  Storage storage;
  Domain domain;
  int bits;
};

// In the order of the enumeration.
constexpr std::array<Traits, kElementTypeCount> kTraits = {{
    {"undefined", "undefined", Storage::u8, Domain::none, 0},
    {"f32", "float", Storage::f32, Domain::real, 32},
    {"u8", "uint8", Storage::u8, Domain::unsigned_integer, 8},
    {"i8", "int8", Storage::i8, Domain::signed_integer, 8},
    {"u16", "uint16", Storage::u16, Domain::unsigned_integer, 16},
    {"i16", "int16", Storage::i16, Domain::signed_integer, 16},
    {"i32", "int32", Storage::i32, Domain::signed_integer, 32},
    {"i64", "int64", Storage::i64, Domain::signed_integer, 64},
    {"string", "string", Storage::string, Domain::text, 0},
    {"bool", "bool", Storage::boolean, Domain::boolean, 8},
    {"f16", "float16", Storage::f32, Domain::real, 16},
    {"f64", "double", Storage::f64, Domain::real, 64},
    {"u32", "uint32", Storage::u32, Domain::unsigned_integer, 32},
    {"u64", "uint64", Storage::u64, Domain::unsigned_integer, 64},
    {"c64", "complex64", Storage::c64, Domain::complex, 64},
    {"c128", "complex128", Storage::c128, Domain::complex, 128},
    {"bf16", "bfloat16", Storage::f32, Domain::real, 16},
    {"f8e4m3fn", "float8e4m3fn", Storage::f32, Domain::real, 8},
    {"f8e4m3fnuz", "float8e4m3fnuz", Storage::f32, Domain::real, 8},
    {"f8e5m2", "float8e5m2", Storage::f32, Domain::real, 8},
    {"f8e5m2fnuz", "float8e5m2fnuz", Storage::f32, Domain::real, 8},
    {"u4", "uint4", Storage::u8, Domain::unsigned_integer, 4},
    {"i4", "int4", Storage::i8, Domain::signed_integer, 4},
    {"f4e2m1", "float4e2m1", Storage::f32, Domain::real, 4},
    {"f8e8m0", "float8e8m0", Storage::f32, Domain::real, 8},
    {"u2", "uint2", Storage::u8, Domain::unsigned_integer, 2},
    {"i2", "int2", Storage::i8, Domain::signed_integer, 2},
    {"f6e2m3", "float6e2m3", Storage::f32, Domain::real, 6},
    {"f6e3m2", "float6e3m2", Storage::f32, Domain::real, 6},
}};

const Traits& traits_of(ElementType type) {
  const auto index = static_cast<std::size_t>(type);
  ASSAY_CHECK(index < kTraits.size());
  return kTraits[index];
}

using Formats = std::array<FloatFormat, kElementTypeCount>;
constexpr Formats kFormats = [] {
  Formats formats{};
  for (int i = 0; i < kElementTypeCount; ++i) {
    formats[i] = float_format(static_cast<ElementType>(i));
  }
  return formats;
}();

// For the formats that go by the general rule: up to 32 bits, and not float8e8m0.
using Roundings = std::array<FloatRounding, kElementTypeCount>;
constexpr Roundings make_roundings(bool saturate) {
  Roundings roundings{};
  for (int i = 0; i < kElementTypeCount; ++i) {
    const FloatFormat& format = kFormats[i];
    if (format.precision >= 2 && format.precision <= 24) {
      roundings[i] = float_rounding(format, saturate);
    }
  }
  return roundings;
}
constexpr Roundings kRoundings = make_roundings(false);
constexpr Roundings kSaturatingRoundings = make_roundings(true);

double round_to_f64(double value, bool saturate) {
  if (saturate && std::isinf(value)) {
    return std::copysign(std::numeric_limits<double>::max(), value);
  }
  return value;
}

// How a format of at most 16 bits spends its bits.
struct Layout {
  int mantissa_bits;
  std::uint64_t sign_bit;
  std::uint64_t mantissa_mask;
  std::uint64_t exponent_mask;  // in place
};

Layout layout_of(ElementType type, const FloatFormat& format) {
  const int mantissa_bits = format.precision - 1;
  const std::uint64_t sign_bit = std::uint64_t{1} << (bit_width(type) - 1);
  const std::uint64_t mantissa_mask = (std::uint64_t{1} << mantissa_bits) - 1;
  return {mantissa_bits, sign_bit, mantissa_mask, (sign_bit - 1) & ~mantissa_mask};
}

bool is_fnuz(const FloatFormat& format) { return format.has_sign && !format.has_negative_zero; }

std::uint64_t nan_bits(const FloatFormat& format, const Layout& layout, double value) {
  if (is_fnuz(format)) return layout.sign_bit;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t sign = bits >> 63 ? layout.sign_bit : 0;
  if (!format.has_infinity) return sign | layout.exponent_mask | layout.mantissa_mask;
  std::uint64_t payload = bits >> (52 - layout.mantissa_bits) & layout.mantissa_mask;
  if (payload == 0) payload = (layout.mantissa_mask + 1) / 2;
  return sign | layout.exponent_mask | payload;
}

std::uint64_t finite_bits(const FloatFormat& format, const Layout& layout, double magnitude) {
  const auto bits = std::bit_cast<std::uint64_t>(magnitude);
  const int exponent = static_cast<int>(bits >> 52) - 1023;
  if (exponent < format.min_exponent) {
    return static_cast<std::uint64_t>(magnitude *
                                      power_of_two(layout.mantissa_bits - format.min_exponent));
  }
  const int field = exponent - format.min_exponent + 1;
  return static_cast<std::uint64_t>(field) << layout.mantissa_bits |
         (bits >> (52 - layout.mantissa_bits) & layout.mantissa_mask);
}

bool is_nan_pattern(const FloatFormat& format, const Layout& layout, std::uint64_t bits) {
  if (!format.has_nan) return false;
  if (is_fnuz(format)) return bits == layout.sign_bit;
  const std::uint64_t magnitude = bits & ~layout.sign_bit;
  if (format.has_infinity) return magnitude > layout.exponent_mask;
  return magnitude == (layout.exponent_mask | layout.mantissa_mask);
}

double decode_narrow(ElementType type, std::uint64_t bits) {
  const FloatFormat& format = kFormats[static_cast<std::size_t>(type)];
  const Layout layout = layout_of(type, format);
  bits &= layout.sign_bit | (layout.sign_bit - 1);
  const std::uint64_t mantissa = bits & layout.mantissa_mask;
  const bool negative = bits & layout.sign_bit;
  if (is_nan_pattern(format, layout, bits)) {
    // A quiet NaN where the format tells no payloads apart.
    const std::uint64_t payload =
        format.has_infinity ? mantissa << (52 - layout.mantissa_bits) : std::uint64_t{1} << 51;
    return std::bit_cast<double>(static_cast<std::uint64_t>(negative) << 63 |
                                 0x7FF0'0000'0000'0000u | payload);
  }
  const auto field = static_cast<int>((bits & layout.exponent_mask) >> layout.mantissa_bits);
  double magnitude = 0;
  if (format.has_infinity && (bits & ~layout.sign_bit) == layout.exponent_mask) {
    magnitude = std::numeric_limits<double>::infinity();
  } else if (field == 0) {
    magnitude =
        static_cast<double>(mantissa) * power_of_two(format.min_exponent - layout.mantissa_bits);
  } else {
    magnitude = static_cast<double>(mantissa + layout.mantissa_mask + 1) *
                power_of_two(field - 1 + format.min_exponent - layout.mantissa_bits);
  }
  return negative ? -magnitude : magnitude;
}

template <std::string_view Traits::*name>
std::optional<ElementType> find_by(std::string_view text) {
  for (int i = 1; i < kElementTypeCount; ++i) {
    if (kTraits[i].*name == text) return static_cast<ElementType>(i);
  }
  return std::nullopt;
}

}  // namespace

Storage storage_of(ElementType type) {
  ASSAY_CHECK(type != ElementType::undefined);
  return traits_of(type).storage;
}

Domain domain_of(ElementType type) { return traits_of(type).domain; }

std::size_t storage_size(ElementType type) {
  switch (storage_of(type)) {
    case Storage::i8:
    case Storage::u8:
    case Storage::boolean:
      return 1;
    case Storage::i16:
    case Storage::u16:
      return 2;
    case Storage::f32:
    case Storage::i32:
    case Storage::u32:
      return 4;
    case Storage::f64:
    case Storage::c64:
    case Storage::i64:
    case Storage::u64:
      return 8;
    case Storage::c128:
      return 16;
    case Storage::string:
      break;
  }
  return sizeof(std::string);
}

int bit_width(ElementType type) { return traits_of(type).bits; }

std::string_view short_name(ElementType type) { return traits_of(type).short_name; }

std::optional<ElementType> element_type_from_short_name(std::string_view name) {
  return find_by<&Traits::short_name>(name);
}

std::string_view standard_name(ElementType type) { return traits_of(type).standard_name; }

std::optional<ElementType> element_type_from_standard_name(std::string_view name) {
  return find_by<&Traits::standard_name>(name);
}

const FloatFormat& format_of(ElementType type) {
  ASSAY_CHECK(is_real(type));
  return kFormats[static_cast<std::size_t>(type)];
}

double round_to_format(ElementType type, double value, bool saturate) {
  if (type == ElementType::f64) return round_to_f64(value, saturate);
  if (type == ElementType::f8e8m0) return round_to_e8m0(value, PowerRounding::nearest, saturate);
  ASSAY_CHECK(is_real(type));
  return round_with((saturate ? kSaturatingRoundings : kRoundings)[static_cast<std::size_t>(type)],
                    value);
}

double round_to_e8m0(double value, PowerRounding mode, bool saturate) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kSmallest = power_of_two(-127);
  constexpr double kLargest = power_of_two(127);
  if (!(value >= 0)) return kNan;
  // Below 2^-1022 there is no hidden bit, but there every mode ends beneath the range.
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t fraction = bits & 0xF'FFFF'FFFF'FFFFu;
  const bool up = mode == PowerRounding::up        ? fraction != 0
                  : mode == PowerRounding::nearest ? fraction >= std::uint64_t{1} << 51
                                                   : false;
  const int exponent = static_cast<int>(bits >> 52) - 1023 + (up ? 1 : 0);
  if (exponent < -127) return saturate ? kSmallest : kNan;
  if (exponent > 127) return saturate ? kLargest : kNan;
  return power_of_two(exponent);
}

std::int64_t wrap_signed(ElementType type, std::int64_t value) {
  ASSAY_CHECK(is_integer(type));
  const int unused = 64 - bit_width(type);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << unused) >> unused;
}

std::uint64_t wrap_unsigned(ElementType type, std::uint64_t value) {
  ASSAY_CHECK(is_integer(type));
  const int unused = 64 - bit_width(type);
  return value << unused >> unused;
}

std::int64_t smallest_integer(ElementType type) {
  ASSAY_CHECK(is_integer(type) || type == ElementType::boolean);
  if (domain_of(type) != Domain::signed_integer) return 0;
  return std::numeric_limits<std::int64_t>::min() >> (64 - bit_width(type));
}

std::uint64_t largest_integer(ElementType type) {
  ASSAY_CHECK(is_integer(type) || type == ElementType::boolean);
  if (type == ElementType::boolean) return 1;
  const int bits = bit_width(type) - (domain_of(type) == Domain::signed_integer ? 1 : 0);
  return std::numeric_limits<std::uint64_t>::max() >> (64 - bits);
}

std::uint64_t to_bits(ElementType type, double value) {
  if (type == ElementType::f64) return std::bit_cast<std::uint64_t>(value);
  if (type == ElementType::f32) return std::bit_cast<std::uint32_t>(narrow(value));
  const FloatFormat& format = format_of(type);
  if (type == ElementType::f8e8m0) {
    const double power = round_to(type, value);
    return power != power ? 0xFF : (std::bit_cast<std::uint64_t>(power) >> 52) - 1023 + 127;
  }
  const Layout layout = layout_of(type, format);
  if (value != value && format.has_nan) return nan_bits(format, layout, value);
  const double rounded = round_to(type, value);
  if (rounded != rounded) return nan_bits(format, layout, rounded);
  const std::uint64_t sign = std::signbit(rounded) ? layout.sign_bit : 0;
  if (std::isinf(rounded)) return sign | layout.exponent_mask;
  return sign | finite_bits(format, layout, std::abs(rounded));
}

double from_bits(ElementType type, std::uint64_t bits) {
  if (type == ElementType::f64) return std::bit_cast<double>(bits);
  if (type == ElementType::f32)
    return widen(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  ASSAY_CHECK(is_real(type));
  if (type == ElementType::f8e8m0) {
    const auto code = static_cast<int>(bits & 0xFF);
    return code == 0xFF ? std::numeric_limits<double>::quiet_NaN() : power_of_two(code - 127);
  }
  return decode_narrow(type, bits);
}

}  // namespace assay

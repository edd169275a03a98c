#include "tensor/convert.h"

#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/check.h"
#include "tensor/float_format.h"

namespace assay {
namespace {

// Inner loops of constant length: those gcc vectorizes at -O2.
template <class In, class Out, class F>
inline __attribute__((always_inline)) void map_loop(const In* __restrict in, Out* __restrict out,
                                                    std::int64_t count, const F& f) {
  constexpr std::int64_t kBlock = 16;
  std::int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    for (std::int64_t j = 0; j < kBlock; ++j) out[i + j] = f(in[i + j]);
  }
  for (; i < count; ++i) out[i] = f(in[i]);
}

// The same elements, with the vectors of AVX2. Flat, because only what is inlined here has them.
template <class In, class Out, class F>
__attribute__((target("avx2"), flatten)) void map_wide(const In* in, Out* out, std::int64_t count,
                                                       const F& f) {
  map_loop(in, out, count, f);
}

template <class In, class Out, class F>
void map_elements(const In* in, Out* out, std::int64_t count, const F& f) {
  static const bool wide = __builtin_cpu_supports("avx2");
  return wide ? map_wide(in, out, count, f) : map_loop(in, out, count, f);
}

template <class In, class Out>
void cast_elements(const In* in, Out* out, std::int64_t count) {
  if constexpr (std::is_same_v<In, Out>) {
    if (count > 0) std::memcpy(out, in, static_cast<std::size_t>(count) * sizeof(In));
  } else {
    map_elements(in, out, count, [](In x) { return static_cast<Out>(x); });
  }
}

template <class Out>
void read_elements(const Tensor& tensor, std::int64_t begin, std::int64_t end, Out* out) {
  ASSAY_CHECK(0 <= begin && begin <= end && end <= tensor.size());
  visit_storage(tensor.type(), [&]<class T>(T*) {
    if constexpr (std::is_arithmetic_v<T>) {
      cast_elements(tensor.data<T>().data() + begin, out, end - begin);
    } else {
      ASSAY_CHECK(std::is_arithmetic_v<T>);
    }
  });
}

// The value truncated toward zero, modulo 2^64; 0 for what is no number.
std::int64_t truncate_modulo(double value) {
  if (std::abs(value) < 0x1p63) return static_cast<std::int64_t>(value);
  if (!std::isfinite(value)) return 0;
  const auto magnitude = static_cast<std::uint64_t>(std::fmod(std::abs(value), 0x1p64));
  return static_cast<std::int64_t>(value < 0 ? 0 - magnitude : magnitude);
}

// Wraps to the low `bits` bits of T: a shift up and an (arithmetic) shift down.
template <class T, class In>
T wrap_to(In value, int unused_bits) {
  using Unsigned = std::make_unsigned_t<T>;
  const auto raised = static_cast<Unsigned>(static_cast<Unsigned>(value) << unused_bits);
  return static_cast<T>(static_cast<T>(raised) >> unused_bits);
}

// A double that rounds to any format of at most 40 bits as the integer itself does: bits that do
// not fit are gathered in the last one that does.
template <class Int>
double to_sticky_double(Int value) {
  const bool negative = value < 0;
  auto magnitude = static_cast<std::uint64_t>(value);
  if (negative) magnitude = 0 - magnitude;
  if (magnitude >> 53 != 0) {
    magnitude = (magnitude & ~std::uint64_t{0x7FF}) | ((magnitude & 0x7FF) != 0 ? 0x800u : 0u);
  }
  const auto result = static_cast<double>(magnitude);
  return negative ? -result : result;
}

double widen_exactly(double value) { return value; }
double widen_exactly(std::int64_t value) { return to_sticky_double(value); }
double widen_exactly(std::uint64_t value) { return to_sticky_double(value); }

template <class In>
void write_reals(ElementType type, const In* in, std::int64_t count, void* out, bool saturate) {
  if (type == ElementType::f64) {
    auto* doubles = static_cast<double*>(out);
    cast_elements(in, doubles, count);
    if (!saturate) return;
    for (std::int64_t i = 0; i < count; ++i) doubles[i] = round_to(type, doubles[i], true);
    return;
  }
  auto* floats = static_cast<float*>(out);
  if (type == ElementType::f32 && !saturate) return cast_elements(in, floats, count);
  if (type == ElementType::f8e8m0) {
    for (std::int64_t i = 0; i < count; ++i) {
      floats[i] = static_cast<float>(round_to(type, widen_exactly(in[i]), saturate));
    }
    return;
  }
  const FloatRounding rounding = float_rounding(format_of(type), saturate);
  map_elements(in, floats, count, [&rounding](In x) {
    return static_cast<float>(round_with(rounding, widen_exactly(x)));
  });
}

template <class T, class In>
void write_integers(ElementType type, const In* in, std::int64_t count, T* out) {
  const int unused_bits = static_cast<int>(8 * sizeof(T)) - bit_width(type);
  map_elements(in, out, count, [unused_bits](In x) {
    if constexpr (std::is_floating_point_v<In>) {
      return wrap_to<T>(truncate_modulo(x), unused_bits);
    } else {
      return wrap_to<T>(x, unused_bits);
    }
  });
}

template <class In>
void write_elements(ElementType type, const In* in, std::int64_t count, void* out, bool saturate) {
  ASSAY_CHECK(count >= 0);
  if (is_real(type)) return write_reals(type, in, count, out, saturate);
  visit_storage(type, [&]<class T>(T*) {
    if constexpr (std::is_same_v<T, bool>) {
      map_elements(in, static_cast<bool*>(out), count, [](In x) { return x != 0; });
    } else if constexpr (std::is_integral_v<T>) {
      write_integers(type, in, count, static_cast<T*>(out));
    } else {
      ASSAY_CHECK(std::is_integral_v<T>);
    }
  });
}

bool holds_integers(const Tensor& tensor) {
  return is_integer(tensor.type()) || tensor.type() == ElementType::boolean;
}

}  // namespace

void to_doubles(const Tensor& tensor, std::int64_t begin, std::int64_t end, double* out) {
  read_elements(tensor, begin, end, out);
}

void to_integers(const Tensor& tensor, std::int64_t begin, std::int64_t end, std::int64_t* out) {
  ASSAY_CHECK(holds_integers(tensor));
  read_elements(tensor, begin, end, out);
}

void to_integers(const Tensor& tensor, std::int64_t begin, std::int64_t end, std::uint64_t* out) {
  ASSAY_CHECK(holds_integers(tensor));
  read_elements(tensor, begin, end, out);
}

void from_doubles(ElementType type, const double* in, std::int64_t count, void* storage_out,
                  bool saturate) {
  write_elements(type, in, count, storage_out, saturate);
}

void from_integers(ElementType type, const std::int64_t* in, std::int64_t count, void* storage_out,
                   bool saturate) {
  write_elements(type, in, count, storage_out, saturate);
}

void from_integers(ElementType type, const std::uint64_t* in, std::int64_t count, void* storage_out,
                   bool saturate) {
  write_elements(type, in, count, storage_out, saturate);
}

}  // namespace assay

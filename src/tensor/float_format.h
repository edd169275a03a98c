// The float formats as constants, and rounding to them, inline so that bulk loops stay tight.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "tensor/element_type.h"

namespace assay {

// 2^exponent for exponents of normal doubles.
constexpr double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// Precision 0 marks what is no float format.
constexpr FloatFormat float_format(ElementType type) {
  constexpr double kLargestF32 = std::numeric_limits<float>::max();
  constexpr double kLargestF64 = std::numeric_limits<double>::max();
  switch (type) {
    case ElementType::f64:
      return {53, -1022, kLargestF64, true, true, true, true};
    case ElementType::f32:
      return {24, -126, kLargestF32, true, true, true, true};
    case ElementType::f16:
      return {11, -14, 65504, true, true, true, true};
    case ElementType::bf16:
      return {8, -126, 0x1.fep127, true, true, true, true};
    case ElementType::f8e4m3fn:
      return {4, -6, 448, false, true, true, true};
    case ElementType::f8e4m3fnuz:
      return {4, -7, 240, false, true, false, true};
    case ElementType::f8e5m2:
      return {3, -14, 57344, true, true, true, true};
    case ElementType::f8e5m2fnuz:
      return {3, -15, 57344, false, true, false, true};
    case ElementType::f8e8m0:
      return {1, -127, 0x1p127, false, true, false, false};
    case ElementType::f6e2m3:
      return {4, 0, 7.5, false, false, true, true};
    case ElementType::f6e3m2:
      return {3, -2, 28, false, false, true, true};
    case ElementType::f4e2m1:
      return {2, 0, 6, false, false, true, true};
    default:
      return {};
  }
}

// What rounding to a format of at most 24 bits needs, computed once for a loop.
struct FloatRounding {
  double smallest_scale;  // 2^exponent of the smallest normal
  double largest_scale;   // beyond the format, and small enough for the sum below to be finite
  double to_anchor;       // times 2^exponent gives the double whose last bit is the format's
  double largest;
  double beyond;  // the result where the rounded magnitude exceeds `largest`
  double zero;    // added at the end: +0 turns -0 into +0, -0 changes nothing
  bool has_nan;
};

constexpr FloatRounding float_rounding(const FloatFormat& format, bool saturate) {
  const bool clamps = saturate || !format.has_nan;
  const double special = format.has_infinity ? std::numeric_limits<double>::infinity()
                                             : std::numeric_limits<double>::quiet_NaN();
  return {.smallest_scale = power_of_two(format.min_exponent),
          .largest_scale = 4 * format.largest,
          .to_anchor = 1.5 * power_of_two(53 - format.precision),
          .largest = format.largest,
          .beyond = clamps ? format.largest : special,
          .zero = format.has_negative_zero ? -0.0 : 0.0,
          .has_nan = format.has_nan};
}

// Adding and subtracting a number so large that its last bit weighs as much as the format's last
// bit rounds once, ties to even, in the normal and the subnormal range alike. The factor 1.5 keeps
// the sum in one binade for both signs.
inline double round_with(const FloatRounding& rounding, double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  double scale = std::bit_cast<double>(bits & 0x7FF0'0000'0000'0000u);
  scale = scale < rounding.smallest_scale ? rounding.smallest_scale : scale;
  scale = scale > rounding.largest_scale ? rounding.largest_scale : scale;
  const double anchor = scale * rounding.to_anchor;
  double magnitude = std::abs((value + anchor) - anchor);
  magnitude = magnitude > rounding.largest ? rounding.beyond : magnitude;
  const double result = std::copysign(magnitude, value) + rounding.zero;
  return !rounding.has_nan && value != value ? -0.0 : result;
}

// float to double and back without what the processor does to a NaN: it would set the quiet bit.
inline double widen(float value) {
  if (value == value) return value;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint64_t sign = static_cast<std::uint64_t>(bits >> 31) << 63;
  return std::bit_cast<double>(sign | 0x7FF0'0000'0000'0000u |
                               static_cast<std::uint64_t>(bits & 0x7F'FFFFu) << 29);
}

inline float narrow(double value) {
  if (value == value) return static_cast<float>(value);
  const auto bits = std::bit_cast<std::uint64_t>(value);
  auto payload = static_cast<std::uint32_t>(bits >> 29) & 0x7F'FFFFu;
  if (payload == 0) payload = 0x40'0000u;
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits >> 63) << 31 | 0x7F80'0000u |
                              payload);
}

}  // namespace assay

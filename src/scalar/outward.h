// Double arithmetic that errs on the safe side: the small change of bounds (inside scalar/ only).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kLargestDouble = std::numeric_limits<double>::max();
inline constexpr double kSmallestDouble = std::numeric_limits<double>::denorm_min();

// Makes up for the roundings of a formula of a few operations on numbers that are not negative.
inline constexpr double kUp = 1 + 0x1p-50;

// What a + b (already rounded to `sum`) left behind; exact unless something overflows.
inline double sum_residual(double a, double b, double sum) {
  const double b_part = sum - a;
  return (a - (sum - b_part)) + (b - b_part);
}

inline double add_up(double a, double b) {
  const double sum = a + b;
  if (std::isinf(sum)) return sum < 0 && !std::isinf(a) && !std::isinf(b) ? -kLargestDouble : sum;
  return sum_residual(a, b, sum) > 0 ? std::nextafter(sum, kInfinity) : sum;
}

inline double add_down(double a, double b) { return -add_up(-a, -b); }

// Whether the product of a and b is exactly `product`: known only where nothing underflowed.
inline bool product_is_exact(double a, double b, double product) {
  if (a == 0 || b == 0) return true;
  return std::fabs(product) > 0x1p-900 && std::fma(a, b, -product) == 0;
}

inline bool quotient_is_exact(double a, double b, double quotient) {
  if (a == 0) return true;
  return std::fabs(a) > 0x1p-900 && std::fma(quotient, b, -a) == 0;
}

inline bool root_is_exact(double x, double root) {
  return x == 0 || (std::fabs(x) > 0x1p-900 && std::fma(root, root, -x) == 0);
}

}  // namespace assay

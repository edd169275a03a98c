// The exponential in double, and what is made of it, without branches or calls, so that loops over
// it become vectors. Only single additions, products and quotients: the result is the same on every
// instruction set.
//
// Off by less than 1 ulp (tanh: 3), which the margin of enclosure::below covers.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace assay::exponential_detail {

// Added to a small whole number, leaves it in the last bits of the sum.
constexpr double kWholePart = 0x1.8p52;

// 2^n, given n + kWholePart with n in [-1022, 1023].
inline double power_of_two_at(double shifted) {
  return std::bit_cast<double>((std::bit_cast<std::uint64_t>(shifted) + 1023) << 52);
}

// exp(x) = 2^power * (1 + rest), where |rest| < 0.42. x in [-750, 750] or NaN.
struct Split {
  double power;
  double rest;
};

inline Split split(double x) {
  constexpr double kInverse = 0x1.71547652b82fep+0;  // 1 / log 2
  constexpr double kHigh = 0x1.62e42feep-1;          // log 2, as far as its products are exact
  constexpr double kLow = 0x1.a39ef35793c76p-33;     // the rest of it
  const double power = (x * kInverse + kWholePart) - kWholePart;
  const double r = (x - power * kHigh) - power * kLow;
  // Taylor's series up to r^13 / 13!: even and odd terms apart, so that they overlap in time.
  const double s = r * r;
  double even = 1.0 / 479001600, odd = 1.0 / 6227020800;
  even = even * s + 1.0 / 3628800;
  odd = odd * s + 1.0 / 39916800;
  even = even * s + 1.0 / 40320;
  odd = odd * s + 1.0 / 362880;
  even = even * s + 1.0 / 720;
  odd = odd * s + 1.0 / 5040;
  even = even * s + 1.0 / 24;
  odd = odd * s + 1.0 / 120;
  even = even * s + 1.0 / 2;
  odd = odd * s + 1.0 / 6;
  return {power, r + s * (even + r * odd)};
}

// exp(x) for x in [-750, 710] or NaN: 0 and infinity at the ends.
inline double exp_within(double x) {
  const Split parts = split(x);
  // In two steps, because 2^power alone may be no normal number.
  const double half = parts.power * 0.5 + kWholePart;
  const double other = (parts.power - (half - kWholePart)) + kWholePart;
  return (1 + parts.rest) * power_of_two_at(half) * power_of_two_at(other);
}

}  // namespace assay::exponential_detail

namespace assay {

inline double exp(double x) {
  x = x < -750 ? -750 : x;
  x = x > 710 ? 710 : x;
  return exponential_detail::exp_within(x);
}

// (1 - e) / (1 + e) where e = exp(-2 |x|), from 1 - e, which small x leave exact.
inline double tanh(double x) {
  using namespace exponential_detail;
  double twice = -2 * std::fabs(x);
  twice = twice < -60 ? -60 : twice;  // 1 from there on
  const Split parts = split(twice);
  const double scale = power_of_two_at(parts.power + kWholePart);
  const double less_one = scale * parts.rest + (scale - 1);
  return std::copysign(less_one / (less_one + 2), x);
}

// 1 / (1 + exp(−x)), without overflow.
inline double sigmoid(double x) {
  double below = -std::fabs(x);
  below = below < -750 ? -750 : below;
  const double small = exponential_detail::exp_within(below);
  return (x < 0 ? small : 1) / (1 + small);
}

}  // namespace assay

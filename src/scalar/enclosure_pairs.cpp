// The enclosures of functions of two arguments.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "scalar/enclosure.h"
#include "scalar/outward.h"

namespace assay::enclosure {
namespace {

constexpr bool may_be_zero(const Interval& x) { return x.low <= 0 && 0 <= x.high; }

constexpr bool may_be_infinite(const Interval& x) {
  return x.low == -kInfinity || x.high == kInfinity;
}

Interval points(double x) { return {x, x, false}; }

Interval power_of_point(double a, double b) {
  const double y = std::pow(a + 0.0, b);
  const bool exact = a == 0 || a == 1 || b == 0 || std::isinf(a) || std::isinf(b);
  return exact ? points(y) : Interval{below(y), above(y), false};
}

// For a base that is not negative, b · log a is bilinear: the extremes are at the corners.
Interval positive_power(const Interval& a, const Interval& b) {
  return hull(hull(power_of_point(a.low, b.low), power_of_point(a.low, b.high)),
              hull(power_of_point(a.high, b.low), power_of_point(a.high, b.high)));
}

bool is_odd(double whole) { return std::fmod(whole, 2) != 0 && !std::isinf(whole); }

Interval whole_power(const Interval& size, double exponent) {
  const Interval power = positive_power(size, points(exponent));
  return is_odd(exponent) ? -power : power;
}

// For a negative base only whole exponents (and infinite ones, which count as even) give numbers.
Interval negative_power(const Interval& a, const Interval& b) {
  const Interval size = -a;
  const double first = std::ceil(b.low);
  const double last = std::floor(b.high);
  const bool one_exponent = b.low == b.high && first == last;
  if (one_exponent) return whole_power(size, first);
  Interval result = Interval::no_number();
  if (first == last) result = whole_power(size, first);
  if (first < last) {
    const Interval power = positive_power(size, {first, last, false});
    result = hull(power, -power);
  }
  if (a.low == -kInfinity) result = hull(result, positive_power(points(kInfinity), b));
  result.nan = true;
  return result;
}

// What 0 (of either sign) gives for the negative exponents.
Interval power_of_zero(const Interval& b) {
  Interval result = points(kInfinity);
  const double last = std::min(std::floor(b.high), -1.0);
  const bool odd_exponent = b.low <= last && (is_odd(last) || b.low <= last - 1);
  if (odd_exponent) result.low = -kInfinity;
  return result;
}

// The one whole number that `round` makes of every quotient a / b (b does not hold 0), or NaN.
double common_quotient(const Interval& a, const Interval& b, double (*round)(double)) {
  // Underflow must not hide on which side of 0 a quotient is.
  const auto quotient = [](double x, double y) {
    return x == 0 || x / y != 0 ? x / y + 0.0 : std::copysign(kSmallestDouble, x / y);
  };
  const double corners[] = {quotient(a.low, b.low), quotient(a.low, b.high),
                            quotient(a.high, b.low), quotient(a.high, b.high)};
  const double least = round(below(*std::ranges::min_element(corners)));
  const double most = round(above(*std::ranges::max_element(corners)));
  return least == most && std::fabs(least) < 0x1p52 ? least : kNaN;
}

// a − k·b
Interval remainder(const Interval& a, double k, const Interval& b) {
  if (k == 0) return a;
  const auto [least, most] = std::minmax({k * b.low, k * b.high});
  return {add_down(a.low, -above(most)), add_up(a.high, -below(least)), false};
}

}  // namespace

Interval pow(const Interval& a, const Interval& b) {
  Interval result = Interval::no_number(a.nan || b.nan);
  const bool one = (a.nan && b.contains(0.0)) || (b.nan && a.contains(1.0));
  if (one) result = hull(result, points(1));
  if (!a.has_number() || !b.has_number()) return result;
  if (a.high >= 0) result = hull(result, positive_power({std::max(a.low, 0.0), a.high, false}, b));
  if (a.low < 0) result = hull(result, negative_power({a.low, std::min(a.high, 0.0), false}, b));
  if (may_be_zero(a) && b.low < 0) result = hull(result, power_of_zero(b));
  return result;
}

Interval atan2(const Interval& y, const Interval& x) {
  const bool nan = y.nan || x.nan;
  if (!y.has_number() || !x.has_number()) return Interval::no_number(nan);
  if (may_be_zero(y) && x.low <= 0) {
    return {below(-std::numbers::pi), above(std::numbers::pi), nan};
  }
  Interval result = Interval::no_number(nan);
  for (double a : {y.low, y.high}) {
    for (double b : {x.low, x.high}) {
      result.low = std::min(result.low, below(std::atan2(a, b)));
      result.high = std::max(result.high, above(std::atan2(a, b)));
    }
  }
  return result;
}

Interval fmod(const Interval& a, const Interval& b) {
  const bool nan = a.nan || b.nan || may_be_infinite(a) || may_be_zero(b);
  if (!a.has_number() || !b.has_number()) return Interval::no_number(nan);
  if ((a.low == a.high && std::isinf(a.low)) || (b.low == 0 && b.high == 0)) {
    return Interval::no_number();
  }
  const double most = std::min(std::max(-a.low, a.high), std::max(-b.low, b.high));
  const Interval wide{a.low < 0 ? -most : 0, a.high > 0 ? most : 0, nan};
  if (nan || may_be_infinite(b)) return wide;
  const Interval divisor = b.low < 0 ? -b : b;
  const double k = common_quotient(a, divisor, std::trunc);
  return std::isnan(k) ? wide : meet(wide, remainder(a, k, divisor));
}

Interval floor_mod(const Interval& a, const Interval& b) {
  const bool nan = a.nan || b.nan || may_be_infinite(a) || may_be_zero(b);
  if (!a.has_number() || !b.has_number()) return Interval::no_number(nan);
  if ((a.low == a.high && std::isinf(a.low)) || (b.low == 0 && b.high == 0)) {
    return Interval::no_number();
  }
  const Interval wide{std::min(b.low, 0.0), std::max(b.high, 0.0), nan};
  if (nan || may_be_infinite(b)) return wide;
  const double k = common_quotient(a, b, std::floor);
  return std::isnan(k) ? wide : meet(wide, remainder(a, k, b));
}

}  // namespace assay::enclosure

#include "scalar/interval.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "scalar/outward.h"
#include "scalar/watch.h"

namespace assay {
namespace {

constexpr bool may_be_zero(const Interval& x) { return x.low <= 0 && 0 <= x.high; }

constexpr bool may_be_infinite(const Interval& x) {
  return x.high == kInfinity || x.low == -kInfinity;
}

constexpr bool may_be_finite(const Interval& x) { return x.low < kInfinity && x.high > -kInfinity; }

constexpr bool is_zero(const Interval& x) { return x.low == 0 && x.high == 0; }

bool settled(Operation function, double value, bool exact_in_double) {
  return exact_in_double && rounding().rounds_correctly(function) && rounding().holds(value);
}

End sum_end(double a, double b) {
  const double value = a + b;
  if (std::isinf(value)) return {value, std::isinf(a) || std::isinf(b)};
  return {value, settled(Operation::add, value, sum_residual(a, b, value) == 0)};
}

End product_end(double a, double b) {
  const double value = a * b;
  if (std::isinf(value)) return {value, std::isinf(a) || std::isinf(b)};
  return {value, settled(Operation::multiply, value, product_is_exact(a, b, value))};
}

End quotient_end(double a, double b) {
  const double value = a / b;
  if (std::isinf(value)) return {value, std::isinf(a)};
  const bool exact = std::isinf(b) || quotient_is_exact(a, b, value);
  return {value, settled(Operation::divide, value, exact)};
}

// Where evaluations reach downwards from the least of these ends. That falls and rises with the
// end, so others matter only where they are as low, or inexact beside an exact one.
double least_of(Operation function, std::span<const End> ends) {
  const End* least = ends.data();
  for (const End& end : ends)
    if (std::isnan(least->value) || end.value < least->value) least = &end;
  double low = lower_end(function, *least);
  for (const End& end : ends) {
    const bool counts = end.value == least->value || (least->exact && !end.exact);
    if (&end != least && counts && !std::isnan(end.value))
      low = std::min(low, lower_end(function, end));
  }
  return low;
}

// The hull of what the four pairs of ends reach; a pair that gives NaN has no number.
template <class Combine>
Interval corners(Operation function, const Interval& a, const Interval& b, Combine combine) {
  std::array<End, 4> ends = {combine(a.low, b.low), combine(a.low, b.high), combine(a.high, b.low),
                             combine(a.high, b.high)};
  if (std::ranges::all_of(ends, [](const End& end) { return std::isnan(end.value); }))
    return Interval::no_number(false);
  const double low = least_of(function, ends);
  for (End& end : ends) end.value = -end.value;
  return {low, -least_of(function, ends), false};
}

Interval divide_through_zero(const Interval& a, const Interval& b) {
  if (!is_zero(a)) return {-kInfinity, kInfinity, false};
  return is_zero(b) ? Interval::no_number(false) : Interval{0, 0, false};
}

}  // namespace

bool Interval::contains(const Bounded& x) const {
  if (x.is_anything()) return contains(everything());
  if (std::isnan(x.value)) return nan;
  return low <= x.value - x.error && x.value + x.error <= high;
}

// A body that takes a hull allows for several evaluations: no single one is what it does.
Interval hull(const Interval& a, const Interval& b) {
  if (Watch* seen = watch()) seen->compared();
  return {std::min(a.low, b.low), std::max(a.high, b.high), a.nan || b.nan};
}

Interval meet(const Interval& a, const Interval& b) {
  const Interval both{std::max(a.low, b.low), std::min(a.high, b.high), a.nan && b.nan};
  return both.has_number() ? both : Interval::no_number(both.nan);
}

Interval enclose(const Bounded& x) {
  if (x.is_anything()) return Interval::everything();
  if (std::isnan(x.value)) return Interval::no_number();
  return {x.low(), x.high(), false};
}

Interval enclose_constant(double x) {
  if (std::isnan(x)) return Interval::no_number();
  const End end{x, std::isinf(x) || rounding().holds(x)};
  const Interval value =
      flushed({lower_end(Operation::add, end), upper_end(Operation::add, end), false});
  if (Watch* seen = watch()) seen->named_constant(value);
  return value;
}

Interval flushed(const Interval& x) {
  const Rounding& format = rounding();
  if (!format.flushes_subnormals || !x.has_number()) return x;
  Interval result = x;
  if (x.low > 0 && x.low < format.smallest_normal) result.low = 0;
  if (x.high < 0 && x.high > -format.smallest_normal) result.high = 0;
  return result;
}

double lower_end(Operation function, const End& end) {
  if (end.exact) return end.value;
  const Rounding& format = rounding();
  const double value = std::min(end.value, kLargestDouble);
  double low = add_down(value, -format.error(function, std::fabs(value)));
  // A relative error below 1 and underflow do not change a sign. A −0 here was negative.
  const auto index = static_cast<std::size_t>(function);
  if (value >= 0 && !std::signbit(value) && format.functions[index].absolute == 0)
    low = std::max(low, 0.0);
  return low < -format.largest ? -kInfinity : low;
}

double upper_end(Operation function, const End& end) {
  return -lower_end(function, {-end.value, end.exact});
}

namespace {

Interval sum_of(const Interval& left, const Interval& right) {
  const Interval a = flushed(left);
  const Interval b = flushed(right);
  if (!a.has_number() || !b.has_number()) return Interval::no_number(a.nan || b.nan);
  const bool nan = a.nan || b.nan || (a.high == kInfinity && b.low == -kInfinity) ||
                   (a.low == -kInfinity && b.high == kInfinity);
  const End low = sum_end(a.low, b.low);
  const End high = sum_end(a.high, b.high);
  if (std::isnan(low.value) && std::isnan(high.value)) return Interval::no_number();
  // One operand is then an infinity and nothing else: so is every sum that is a number.
  if (std::isnan(low.value)) return {high.value, high.value, nan};
  if (std::isnan(high.value)) return {low.value, low.value, nan};
  return flushed({lower_end(Operation::add, low), upper_end(Operation::add, high), nan});
}

Interval product_of(const Interval& left, const Interval& right) {
  const Interval a = flushed(left);
  const Interval b = flushed(right);
  if (!a.has_number() || !b.has_number()) return Interval::no_number(a.nan || b.nan);
  Interval result = corners(Operation::multiply, a, b, product_end);
  // An infinite end hides that zero times the finite numbers before it is zero.
  if ((may_be_zero(a) && may_be_finite(b)) || (may_be_zero(b) && may_be_finite(a))) {
    result = hull(result, Interval::point(0));
  }
  result.nan = a.nan || b.nan || (may_be_zero(a) && may_be_infinite(b)) ||
               (may_be_zero(b) && may_be_infinite(a));
  return flushed(result);
}

Interval quotient_of(const Interval& left, const Interval& right) {
  const Interval a = flushed(left);
  const Interval b = flushed(right);
  if (!a.has_number() || !b.has_number()) return Interval::no_number(a.nan || b.nan);
  Interval result =
      may_be_zero(b) ? divide_through_zero(a, b) : corners(Operation::divide, a, b, quotient_end);
  // Likewise, finite numbers divided by infinity are zero.
  if (may_be_finite(a) && may_be_infinite(b)) result = hull(result, Interval::point(0));
  result.nan = a.nan || b.nan || (may_be_zero(a) && may_be_zero(b)) ||
               (may_be_infinite(a) && may_be_infinite(b));
  return flushed(result);
}

}  // namespace

Interval operator+(const Interval& a, const Interval& b) {
  const Interval result = sum_of(a, b);
  if (Watch* seen = watch()) seen->added(a, b, result);
  return result;
}

Interval operator-(const Interval& a, const Interval& b) { return a + -b; }

Interval operator*(const Interval& a, const Interval& b) {
  const Interval result = product_of(a, b);
  if (Watch* seen = watch()) seen->multiplied(a, b, result);
  return result;
}

Interval operator/(const Interval& a, const Interval& b) {
  const Interval result = quotient_of(a, b);
  if (Watch* seen = watch()) seen->applied(Operation::divide, a, b, result);
  return result;
}

}  // namespace assay

#include "scalar/conditions.h"

#include <cmath>

#include "scalar/outward.h"
#include "scalar/tier.h"
#include "scalar/watch.h"

namespace assay {
namespace {

// What every comparison of intervals ends with.
Truth of_interval(bool may_be_true, bool may_be_false) {
  if (Watch* seen = watch()) seen->compared();
  return {may_be_true, may_be_false, may_be_true};
}

bool holds_nan_or_nothing(const Interval& a, const Interval& b) {
  return a.nan || b.nan || !a.has_number() || !b.has_number();
}

constexpr bool is_point(const Interval& x) { return x.low == x.high; }

constexpr Truth with_value(Truth truth, bool value) {
  truth.value = value;
  return truth;
}

}  // namespace

Truth less(const Interval& left, const Interval& right) {
  const Interval a = flushed(left);
  const Interval b = flushed(right);
  return of_interval(a.low < b.high, holds_nan_or_nothing(a, b) || a.high >= b.low);
}

Truth less_equal(const Interval& left, const Interval& right) {
  const Interval a = flushed(left);
  const Interval b = flushed(right);
  const bool numbers = a.has_number() && b.has_number();
  return of_interval(numbers && a.low <= b.high, holds_nan_or_nothing(a, b) || a.high > b.low);
}

Truth equal(const Interval& left, const Interval& right) {
  const Interval a = flushed(left);
  const Interval b = flushed(right);
  const bool meet = a.has_number() && b.has_number() && a.low <= b.high && b.low <= a.high;
  const bool same = meet && is_point(a) && is_point(b);
  return of_interval(meet, holds_nan_or_nothing(a, b) || !same);
}

Truth is_nan(const Interval& x) { return of_interval(x.nan, x.has_number()); }

Truth is_infinite(const Interval& x, bool positive, bool negative) {
  const bool may_be_positive = x.has_number() && x.high == kInfinity;
  const bool may_be_negative = x.has_number() && x.low == -kInfinity;
  const bool may_be_other = x.has_number() && (x.low < kInfinity && x.high > -kInfinity);
  return of_interval(
      (positive && may_be_positive) || (negative && may_be_negative),
      x.nan || may_be_other || (!positive && may_be_positive) || (!negative && may_be_negative));
}

Truth is_negative(const Interval& x) { return less(x, Interval::point(0)); }

Truth less(const Bounded& a, const Bounded& b) {
  return with_value(less(enclose(a), enclose(b)), a.value < b.value);
}

Truth less_equal(const Bounded& a, const Bounded& b) {
  return with_value(less_equal(enclose(a), enclose(b)), a.value <= b.value);
}

Truth equal(const Bounded& a, const Bounded& b) {
  return with_value(equal(enclose(a), enclose(b)), a.value == b.value);
}

Truth is_nan(const Bounded& x) { return with_value(is_nan(enclose(x)), x.value != x.value); }

Truth is_infinite(const Bounded& x, bool positive, bool negative) {
  return with_value(is_infinite(enclose(x), positive, negative),
                    is_infinite(x.value, positive, negative));
}

Truth is_negative(const Bounded& x) { return less(x, Bounded{0, 0}); }

namespace {

// Branches that meet where the condition turns, as those of Relu do, are no decision.
bool meet(const Bounded& a, const Bounded& b) {
  if (a.is_anything() || b.is_anything()) return true;
  return std::fabs(a.value - b.value) <= 4 * (a.error + b.error);
}

}  // namespace

Bounded select(Truth condition, const Bounded& a, const Bounded& b) {
  if (!condition.may_be_false) return a;
  if (!condition.may_be_true) return b;
  const Bounded &likely = condition.value ? a : b, &other = condition.value ? b : a;
  const Bounded both = hull(likely, other);
  if (meet(a, b)) return both;
  note_open_decision();
  return tier().decided ? likely : both;
}

Interval select(Truth condition, const Interval& a, const Interval& b) {
  if (!condition.may_be_false) return a;
  if (!condition.may_be_true) return b;
  return hull(a, b);
}

Truth select(Truth condition, Truth a, Truth b) {
  if (!condition.may_be_false) return a;
  if (!condition.may_be_true) return b;
  return {a.may_be_true || b.may_be_true, a.may_be_false || b.may_be_false,
          condition.value ? a.value : b.value};
}

}  // namespace assay

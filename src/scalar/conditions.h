// Comparisons for every scalar, and select, which takes the place of branching on a value.
//
// A comparison with NaN is false, so what may be NaN may be false.
#pragma once

#include <cmath>

#include "scalar/scalar.h"

namespace assay {

template <Plain S>
constexpr bool less(S a, S b) {
  return a < b;
}

template <Plain S>
constexpr bool less_equal(S a, S b) {
  return a <= b;
}

template <Plain S>
constexpr bool equal(S a, S b) {
  return a == b;
}

template <Plain S>
constexpr bool is_nan(S x) {
  return x != x;
}

// Whether x is +infinity (if `positive`) or −infinity (if `negative`).
inline bool is_infinite(double x, bool positive = true, bool negative = true) {
  return std::isinf(x) && (x > 0 ? positive : negative);
}

template <Integral S>
constexpr bool is_infinite(S, bool = true, bool = true) {
  return false;
}

template <Plain S>
constexpr bool is_negative(S x) {
  return x < S{};
}

Truth less(const Interval& a, const Interval& b);
Truth less_equal(const Interval& a, const Interval& b);
Truth equal(const Interval& a, const Interval& b);
Truth is_nan(const Interval& x);
Truth is_infinite(const Interval& x, bool positive = true, bool negative = true);
Truth is_negative(const Interval& x);

Truth less(const Bounded& a, const Bounded& b);
Truth less_equal(const Bounded& a, const Bounded& b);
Truth equal(const Bounded& a, const Bounded& b);
Truth is_nan(const Bounded& x);
Truth is_infinite(const Bounded& x, bool positive = true, bool negative = true);
Truth is_negative(const Bounded& x);

constexpr Truth equal(Truth a, Truth b) { return negate(exclusive(a, b)); }

template <Scalar S>
constexpr Condition<S> greater(const S& a, const S& b) {
  return less(b, a);
}

template <Scalar S>
constexpr Condition<S> greater_equal(const S& a, const S& b) {
  return less_equal(b, a);
}

template <Scalar S>
constexpr S select(bool condition, const S& a, const S& b) {
  return condition ? a : b;
}

// Where the condition is unknown: the branch of the condition's value, widened over the other.
Bounded select(Truth condition, const Bounded& a, const Bounded& b);
// The hull of the branches that may be taken.
Interval select(Truth condition, const Interval& a, const Interval& b);
Truth select(Truth condition, Truth a, Truth b);

}  // namespace assay

// The functions that operator bodies are written in, for every floating scalar.
//
// For an x inside a bounded number inside an interval, f(x) in double and every honest evaluation
// of f in the current format lie in f of the bounded number, and in f of the interval. A body uses
// only these (and conditions.h, sequences.h, integers.h), never branches on a value and never
// accumulates by hand.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <utility>

#include "scalar/conditions.h"
#include "scalar/exponential.h"
#include "scalar/scalar.h"

namespace assay {

// A constant as the format holds it: 0.1 is not exact in f32. For integers, x must be in range.
template <Scalar S>
S constant(double x) {
  if constexpr (std::same_as<S, Bounded>) {
    return rounded(x);
  } else if constexpr (std::same_as<S, Interval>) {
    return enclose_constant(x);
  } else {
    return static_cast<S>(x);
  }
}

// Counts and other integers; a real one beyond 2^53 is rounded.
template <Scalar S, std::integral T>
S constant(T x) {
  if constexpr (Integral<S>) {
    return static_cast<S>(x);
  } else {
    return constant<S>(static_cast<double>(x));
  }
}

template <Scalar S>
constexpr S zero() {
  return S{};
}

// The value; of an interval the middle.
template <Plain S>
constexpr double to_double(S x) {
  return static_cast<double>(x);
}
constexpr double to_double(const Bounded& x) { return x.value; }
double to_double(const Interval& x);

// In plain numbers there is one candidate, and hull is the first.
template <Plain S>
constexpr S hull(S a, S) {
  return a;
}

// The integers that rounding x down, or toward zero, could give, first and last. They saturate;
// NaN and anything are all integers.
std::pair<std::int64_t, std::int64_t> index_candidates(double x);
std::pair<std::int64_t, std::int64_t> index_candidates(const Bounded& x);
std::pair<std::int64_t, std::int64_t> index_candidates(const Interval& x);

inline double abs(double x) { return std::fabs(x); }
inline double square(double x) { return x * x; }
inline double reciprocal(double x) { return 1 / x; }
inline double divide(double a, double b) { return a / b; }
// NaN if either is, as numpy.maximum. Two choices, not one of two reasons: those become vectors.
inline double max(double a, double b) {
  const double larger = a > b ? a : b;
  return a != a ? a : larger;
}
inline double min(double a, double b) {
  const double smaller = a < b ? a : b;
  return a != a ? a : smaller;
}
inline double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x == 0 ? 0 : x; }
inline double floor(double x) { return std::floor(x); }
inline double ceil(double x) { return std::ceil(x); }
inline double truncate(double x) { return std::trunc(x); }
inline double round_even(double x) { return std::nearbyint(x); }
inline double sqrt(double x) { return std::sqrt(x); }
inline double expm1(double x) { return std::expm1(x); }
inline double log(double x) { return std::log(x); }
inline double log1p(double x) { return std::log1p(x); }
inline double sin(double x) { return std::sin(x); }
inline double cos(double x) { return std::cos(x); }
inline double tan(double x) { return std::tan(x); }
inline double asin(double x) { return std::asin(x); }
inline double acos(double x) { return std::acos(x); }
inline double atan(double x) { return std::atan(x); }
inline double atan2(double y, double x) { return std::atan2(y, x); }
inline double sinh(double x) { return std::sinh(x); }
inline double cosh(double x) { return std::cosh(x); }
inline double asinh(double x) { return std::asinh(x); }
inline double acosh(double x) { return std::acosh(x); }
inline double atanh(double x) { return std::atanh(x); }
inline double erf(double x) { return std::erf(x); }
inline double pow(double a, double b) { return std::pow(a, b); }

// log(1 + exp(x)), without overflow.
inline double softplus(double x) {
  const double rest = std::log1p(exp(-std::fabs(x)));
  return x > 0 ? x + rest : x == x ? rest : x;
}

// The remainder with the sign of a, as in C; and with the sign of b, a zero too, as in Python.
inline double fmod(double a, double b) { return std::fmod(a, b); }
inline double floor_mod(double a, double b) {
  const double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(rest, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

#define ASSAY_UNARY(name)         \
  Bounded name(const Bounded& x); \
  Interval name(const Interval& x)
#define ASSAY_BINARY(name)                          \
  Bounded name(const Bounded& a, const Bounded& b); \
  Interval name(const Interval& a, const Interval& b)

ASSAY_UNARY(abs);
ASSAY_UNARY(square);
ASSAY_UNARY(reciprocal);
ASSAY_BINARY(divide);
ASSAY_BINARY(max);
ASSAY_BINARY(min);
ASSAY_UNARY(sign);
ASSAY_UNARY(floor);
ASSAY_UNARY(ceil);
ASSAY_UNARY(truncate);
ASSAY_UNARY(round_even);
ASSAY_UNARY(sqrt);
ASSAY_UNARY(exp);
ASSAY_UNARY(expm1);
ASSAY_UNARY(log);
ASSAY_UNARY(log1p);
ASSAY_UNARY(sin);
ASSAY_UNARY(cos);
ASSAY_UNARY(tan);
ASSAY_UNARY(asin);
ASSAY_UNARY(acos);
ASSAY_UNARY(atan);
ASSAY_BINARY(atan2);
ASSAY_UNARY(sinh);
ASSAY_UNARY(cosh);
ASSAY_UNARY(tanh);
ASSAY_UNARY(asinh);
ASSAY_UNARY(acosh);
ASSAY_UNARY(atanh);
ASSAY_UNARY(erf);
ASSAY_BINARY(pow);
ASSAY_UNARY(sigmoid);
ASSAY_UNARY(softplus);
ASSAY_BINARY(fmod);
ASSAY_BINARY(floor_mod);

#undef ASSAY_UNARY
#undef ASSAY_BINARY

}  // namespace assay

#include "scalar/integers.h"

namespace assay {

template <Scalar S>
S clamp(const S& x, const S& low, const S& high) {
  return min(max(x, low), high);
}

}  // namespace assay

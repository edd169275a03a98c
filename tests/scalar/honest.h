// Honest evaluations to hold bounds against: one draw of how each operation may be rounded.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <mpfr.h>

#include "scalar/rounding.h"
#include "scalar/sequences.h"
#include "scalar/vocabulary.h"

namespace assay::testing {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The same for every run, but with --gtest_shuffle --gtest_random_seed=N.
inline std::mt19937_64& random_bits() {
  static std::mt19937_64 engine(20240611U + ::testing::UnitTest::GetInstance()->random_seed());
  return engine;
}

inline double uniform(double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random_bits());
}

inline bool chance(double probability) { return uniform(0, 1) < probability; }

struct Format {
  std::string name;
  Rounding rounding;
};

inline Rounding flushing(Rounding format) {
  format.flushes_subnormals = true;
  return format;
}

inline const std::vector<Format>& formats() {
  static const std::vector<Format> all = {
      {"f64", Rounding::f64()},
      {"f32", Rounding::f32()},
      {"f16", Rounding::f16()},
      {"bf16", Rounding::bf16()},
      {"exact", Rounding::exact()},
      {"f32 flushing", flushing(Rounding::f32())},
      {"f16 flushing", flushing(Rounding::f16())},
      {"e4m3", Rounding::of(4, -6, 448)},
  };
  return all;
}

// The number of the format that is nearest to x, ties to even.
inline double nearest(const Rounding& format, long double x) {
  if (x == 0 || !std::isfinite(x)) return static_cast<double>(x);
  const int precision = -std::ilogb(format.unit);
  const int exponent = std::max(std::ilogb(x), std::ilogb(format.smallest_normal));
  const long double step = std::ldexp(1.0L, exponent - precision + 1);
  const long double result = std::nearbyint(x / step) * step;
  if (std::fabs(result) > format.largest) return x > 0 ? kInf : -kInf;
  return static_cast<double>(result);
}

// A result as an evaluation may store it: rounded to the format, kept in double, or rounded twice.
inline double stored(long double exact) {
  const Rounding& format = rounding();
  double result = static_cast<double>(exact);
  if (chance(0.7)) result = nearest(format, chance(0.8) ? exact : static_cast<long double>(result));
  const bool subnormal = std::fabs(result) < format.smallest_normal;
  return format.flushes_subnormals && subnormal && chance(0.7) ? std::copysign(0.0, result)
                                                               : result;
}

inline double operand(double x) {
  const Rounding& format = rounding();
  const bool subnormal = std::fabs(x) < format.smallest_normal;
  return format.flushes_subnormals && subnormal && chance(0.5) ? std::copysign(0.0, x) : x;
}

// A function's result with some of the error that the format's profile allows it.
inline double stored(Operation function, long double exact) {
  const Rounding& format = rounding();
  const OperationError& allowed = format.functions[static_cast<std::size_t>(function)];
  if (!std::isfinite(exact) || exact == 0 || allowed.ulps <= 0.5) return stored(exact);
  // Half a unit is left for storing it, which is not enough where the binade changes.
  const long double unit = 2 * (format.unit * std::fabs(exact) + format.tiny);
  const double part = chance(0.3) ? (chance(0.5) ? 1 : -1) : uniform(-1, 1);
  const long double moved = exact + part * (allowed.ulps - 0.5L) * unit;
  const double result = stored((moved > 0) == (exact > 0) ? moved : exact);
  const bool allows = std::isinf(result) || std::fabs(result - exact) <= allowed.ulps * unit;
  return allows ? result : stored(exact);
}

using Mpfr = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

// f(x) to 64 bits.
inline long double truth(Mpfr f, double x) {
  mpfr_t a;
  mpfr_t y;
  mpfr_init2(a, 53);
  mpfr_init2(y, 120);
  mpfr_set_d(a, x, MPFR_RNDN);
  f(y, a, MPFR_RNDN);
  const long double result = mpfr_get_ld(y, MPFR_RNDN);
  mpfr_clear(a);
  mpfr_clear(y);
  return result;
}

// A finite number of the format, of any size, often small and whole.
inline double number(const Rounding& format) {
  const double choice = uniform(0, 1);
  double x = uniform(-4, 4);
  if (choice < 0.2) x = std::round(x);
  if (choice > 0.5) x = uniform(-100, 100);
  if (choice > 0.7) x = std::exp(uniform(std::log(format.tiny), std::log(format.largest)));
  if (choice > 0.97) x = format.largest;
  if (choice > 0.98) x = format.smallest_normal * uniform(0, 1);
  if (choice > 0.99) x = 0;
  if (chance(0.3)) x = -x;
  const double result = nearest(format, x);
  return std::isfinite(result) ? result : format.largest;
}

// Such a number with an error: often none, often a few units, sometimes large.
inline Bounded bounded(const Rounding& format) {
  const double x = number(format);
  const double choice = uniform(0, 1);
  if (choice < 0.4) return {x, 0};
  const double relative = choice < 0.7 ? uniform(0, 8) * (format.unit + 0x1p-52) : uniform(0, 1.5);
  const double error = std::fabs(x) * relative + (choice > 0.95 ? uniform(0, 10) : 0);
  return std::fabs(x) + error <= format.largest ? Bounded{x, error} : Bounded{x, 0};
}

// A number that x covers, often an end.
inline double inside(const Bounded& x) {
  if (x.is_exact() || x.is_anything()) return x.value;
  const double choice = uniform(0, 1);
  const double part = choice < 0.2 ? -1 : choice < 0.4 ? 1 : uniform(-1, 1);
  const double result = x.value + part * x.error;
  return x.contains(result) ? result : x.value;
}

// An interval around x, sometimes with far ends.
inline Interval around(const Bounded& x) {
  Interval result = enclose(x);
  if (!std::isfinite(x.value)) return result;
  if (chance(0.3)) result.low -= std::fabs(x.value) * uniform(0, 3);
  if (chance(0.3)) result.high += std::fabs(x.value) * uniform(0, 3);
  if (chance(0.03)) result.low = -kInf;
  if (chance(0.03)) result.high = kInf;
  if (chance(0.03)) result.nan = true;
  return result;
}

inline std::string show(const Bounded& x) {
  char text[80];
  std::snprintf(text, sizeof text, "%.17g ± %.17g", x.value, x.error);
  return text;
}

inline std::string show(const Interval& x) {
  char text[80];
  std::snprintf(text, sizeof text, "[%.17g, %.17g]%s", x.low, x.high, x.nan ? " or NaN" : "");
  return text;
}

}  // namespace assay::testing

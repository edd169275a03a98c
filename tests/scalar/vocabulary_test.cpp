// Every function of the vocabulary against MPFR, in every format.
#include "scalar/vocabulary.h"

#include <gtest/gtest.h>

#include "honest.h"

namespace assay::testing {
namespace {

int mpfr_sigmoid(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t mode) {
  mpfr_neg(y, x, mode);
  mpfr_exp(y, y, mode);
  mpfr_add_ui(y, y, 1, mode);
  return mpfr_ui_div(y, 1, y, mode);
}

int mpfr_softplus(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t mode) {
  if (mpfr_cmp_ui(x, 200) > 0) return mpfr_set(y, x, mode);  // and exp would overflow
  mpfr_exp(y, x, mode);
  return mpfr_log1p(y, y, mode);
}

struct Unary {
  const char* name;
  Operation operation;
  Mpfr truth;
  double (*value)(double);
  Bounded (*bounded)(const Bounded&);
  Interval (*interval)(const Interval&);
};

#define ASSAY_UNARY(name, operation, truth) \
  Unary { #name, Operation::operation, truth, name, name, name }

const std::vector<Unary>& unaries() {
  static const std::vector<Unary> all = {ASSAY_UNARY(sqrt, square_root, mpfr_sqrt),
                                         ASSAY_UNARY(exp, exp, mpfr_exp),
                                         ASSAY_UNARY(expm1, expm1, mpfr_expm1),
                                         ASSAY_UNARY(log, log, mpfr_log),
                                         ASSAY_UNARY(log1p, log1p, mpfr_log1p),
                                         ASSAY_UNARY(sin, sin, mpfr_sin),
                                         ASSAY_UNARY(cos, cos, mpfr_cos),
                                         ASSAY_UNARY(tan, tan, mpfr_tan),
                                         ASSAY_UNARY(asin, asin, mpfr_asin),
                                         ASSAY_UNARY(acos, acos, mpfr_acos),
                                         ASSAY_UNARY(atan, atan, mpfr_atan),
                                         ASSAY_UNARY(sinh, sinh, mpfr_sinh),
                                         ASSAY_UNARY(cosh, cosh, mpfr_cosh),
                                         ASSAY_UNARY(tanh, tanh, mpfr_tanh),
                                         ASSAY_UNARY(asinh, asinh, mpfr_asinh),
                                         ASSAY_UNARY(acosh, acosh, mpfr_acosh),
                                         ASSAY_UNARY(atanh, atanh, mpfr_atanh),
                                         ASSAY_UNARY(erf, erf, mpfr_erf),
                                         ASSAY_UNARY(sigmoid, sigmoid, mpfr_sigmoid),
                                         ASSAY_UNARY(softplus, softplus, mpfr_softplus)};
  return all;
}

// Results that no honest evaluation gives, which a drawn error may have made.
double honest(const Unary& f, double y) {
  if (f.operation == Operation::sin || f.operation == Operation::cos ||
      f.operation == Operation::tanh || f.operation == Operation::erf) {
    return std::fmin(1, std::fmax(-1, y));
  }
  if (f.operation == Operation::sigmoid) return std::fmin(1, y);
  if (f.operation == Operation::cosh) return std::fmax(1, y);
  if (f.operation == Operation::expm1) return std::fmax(-1, y);
  return y;
}

TEST(Vocabulary, CoversHonestFunctions) {
  for (const Format& format : formats()) {
    const RoundingScope scope(format.rounding);
    for (const Unary& f : unaries()) {
      for (int i = 0; i < 1000; ++i) {
        const Bounded b = bounded(format.rounding);
        const Interval wide = around(b);
        const Bounded fb = f.bounded(b);
        const Interval fi = f.interval(wide);
        for (int draw = 0; draw < 4; ++draw) {
          const double x = inside(b);
          const double seen = operand(x);
          const long double exact = truth(f.truth, seen);
          const double y = std::isnan(exact) ? kNan : honest(f, stored(f.operation, exact));
          ASSERT_TRUE(fb.contains(y)) << format.name << ' ' << f.name << ' ' << show(b) << " at "
                                      << x << " gives " << y << " not in " << show(fb);
          ASSERT_TRUE(fi.contains(y)) << format.name << ' ' << f.name << ' ' << show(wide) << " at "
                                      << x << " gives " << y << " not in " << show(fi);
          ASSERT_TRUE(fb.contains(f.value(x))) << format.name << ' ' << f.name << ' ' << show(b);
          ASSERT_TRUE(fi.contains(f.value(x))) << format.name << ' ' << f.name << ' ' << show(wide);
        }
        ASSERT_TRUE(fb.value == f.value(b.value) || std::isnan(fb.value)) << f.name;
      }
    }
  }
}

TEST(Vocabulary, IsTightForExactOperands) {
  const RoundingScope scope(Rounding::f32());
  for (const Unary& f : unaries()) {
    for (int i = 0; i < 2000; ++i) {
      const double x = nearest(Rounding::f32(), uniform(-6, 6));
      const Bounded y = f.bounded({x, 0});
      if (!std::isfinite(y.value) || y.is_anything()) continue;
      const OperationError& e = rounding().functions[static_cast<std::size_t>(f.operation)];
      const double allowed = 2 * e.ulps * (0x1p-24 * std::fabs(y.value) + 0x1p-150) + e.absolute;
      ASSERT_LE(y.error, 1.02 * allowed) << f.name << ' ' << x;
      // A point gives what the bound gives, but for the limits of the function's range.
      const Interval point = f.interval(Interval::point(x));
      ASSERT_LE(point.high - point.low, 2.05 * allowed) << f.name << ' ' << x;
      ASSERT_TRUE(point.contains(y.value));
    }
  }
}

TEST(Vocabulary, IntervalsAreTight) {
  const RoundingScope scope(Rounding::f32());
  for (const Unary& f : unaries()) {
    for (int i = 0; i < 300; ++i) {
      const double a = uniform(-4, 4);
      const double b = a + uniform(0, 5);
      double least = kInf;
      double most = -kInf;
      for (int k = 0; k <= 4000; ++k) {
        double x = a + (b - a) * k / 4000;
        // The ends of domains are where functions are steep.
        if (k < 3) x = std::fmin(b, std::fmax(a, k - 1));
        const double y = f.value(x);
        if (std::isnan(y)) continue;
        least = std::fmin(least, y);
        most = std::fmax(most, y);
      }
      const Interval image = f.interval({a, b, false});
      // Near poles a sample says little.
      if (!(most - least < 100) || f.operation == Operation::tan) continue;
      const double slack =
          0.05 * (most - least) + 2e-6 * std::fmax(std::fabs(least), std::fabs(most));
      const bool below = std::isinf(image.low) || image.low >= least - slack - 2e-7;
      const bool above = std::isinf(image.high) || image.high <= most + slack + 2e-7;
      EXPECT_TRUE(below && above) << f.name << ' ' << a << ' ' << b << ' ' << show(image) << " of "
                                  << least << ' ' << most;
    }
  }
}

TEST(Vocabulary, SpecialOperands) {
  const auto special = {0.0,  -0.0,     1.0,       -1.0,      kInf,           -kInf,
                        kNan, 0x1p-149, -0x1p-149, 0x1p-1074, 0x1.fffffep127, -0x1.fffffep127,
                        88.8, -88.8,    104.0,     -104.0,    1e300};
  for (const Format& format : formats()) {
    const RoundingScope scope(format.rounding);
    for (const Unary& f : unaries()) {
      for (double x : special) {
        EXPECT_TRUE(f.bounded({x, 0}).contains(f.value(x))) << format.name << f.name << x;
        EXPECT_TRUE(f.interval(Interval::point(x)).contains(f.value(x)))
            << format.name << f.name << x;
        EXPECT_TRUE(f.interval(Interval::everything()).contains(f.value(x))) << f.name << x;
        EXPECT_TRUE(f.bounded(Bounded::anything(x)).is_anything()) << f.name << x;
      }
    }
  }
}

TEST(Vocabulary, KnowsLimitsPolesAndDomains) {
  const RoundingScope scope(Rounding::f32());
  const auto is = [](Bounded x, double value) {
    return x.is_exact() && (x.value == value || (std::isnan(x.value) && std::isnan(value)));
  };
  EXPECT_TRUE(is(exp(Bounded{-kInf, 0}), 0));
  EXPECT_TRUE(is(exp(Bounded{kInf, 0}), kInf));
  EXPECT_TRUE(is(tanh(Bounded{kInf, 0}), 1));
  EXPECT_TRUE(is(log(Bounded{0, 0}), -kInf));
  EXPECT_TRUE(is(log(Bounded{-1, 0}), kNan));
  EXPECT_TRUE(is(atanh(Bounded{-1, 0}), -kInf));
  EXPECT_TRUE(is(sin(Bounded{kInf, 0}), kNan));
  EXPECT_TRUE(is(sqrt(Bounded{4, 0}), 2));
  EXPECT_TRUE(is(sin(Bounded{0, 0}), 0));
  EXPECT_TRUE(log(Bounded{1e-9, 1e-8}).is_anything());
  EXPECT_TRUE(exp(Bounded{89, 0}).is_anything()) << "overflows in f32, not in a wider evaluation";
  EXPECT_FALSE(exp(Interval{0, 89, false}).nan);
  EXPECT_EQ(exp(Interval{0, 89, false}).high, kInf);
  EXPECT_TRUE(sqrt(Interval{-1, 4, false}).nan);
  EXPECT_EQ(sqrt(Interval{-1, 4, false}).high, 2);
  EXPECT_FALSE(log(Interval{2, 3, false}).contains(0.0));
  EXPECT_FALSE(log(Interval{1, 3, false}).contains(-0x1p-140)) << "no sign change";
}

struct Binary {
  const char* name;
  double (*value)(double, double);
  Bounded (*bounded)(const Bounded&, const Bounded&);
  Interval (*interval)(const Interval&, const Interval&);
  double (*evaluate)(double, double);  // one honest evaluation
};

#define ASSAY_BINARY(name, result)                                               \
  Binary {                                                                       \
    #name, name, name, name, [](double a, double b) -> double { return result; } \
  }
#define ASSAY_OPERATOR(name, op)                                                    \
  Binary {                                                                          \
    name, [](double a, double b) { return a op b; },                                \
        [](const Bounded& a, const Bounded& b) { return a op b; },                  \
        [](const Interval& a, const Interval& b) { return a op b; },                \
        [](double a, double b) { return stored(static_cast<long double>(a) op b); } \
  }

double honest_pow(double a, double b) {
  mpfr_t x;
  mpfr_t y;
  mpfr_init2(x, 53);
  mpfr_init2(y, 120);
  mpfr_set_d(x, b, MPFR_RNDN);
  mpfr_set_d(y, a, MPFR_RNDN);
  mpfr_pow(y, y, x, MPFR_RNDN);
  const long double exact = mpfr_get_ld(y, MPFR_RNDN);
  mpfr_clear(x);
  mpfr_clear(y);
  const bool certain = std::fabs(a) == 1 || b == 0;
  return certain ? std::pow(a, b) : stored(Operation::pow, exact);
}

const std::vector<Binary>& binaries() {
  static const std::vector<Binary> all = {
      ASSAY_OPERATOR("add", +),
      ASSAY_OPERATOR("subtract", -),
      ASSAY_OPERATOR("multiply", *),
      ASSAY_OPERATOR("divide", /),
      ASSAY_BINARY(max, max(a, b)),
      ASSAY_BINARY(min, min(a, b)),
      ASSAY_BINARY(fmod, stored(std::fmod(static_cast<long double>(a), b))),
      ASSAY_BINARY(floor_mod, stored(floor_mod(a, b))),
      ASSAY_BINARY(atan2, stored(Operation::atan2, std::atan2(static_cast<long double>(a), b))),
      ASSAY_BINARY(pow, honest_pow(a, b))};
  return all;
}

// The sign of an exact zero counts where it divides, so only its own sign is drawn.
void check_pair(const Format& format, const Binary& f, const Bounded& a, const Bounded& b) {
  const Interval wide_a = around(a);
  const Interval wide_b = around(b);
  const Bounded fb = f.bounded(a, b);
  const Interval fi = f.interval(wide_a, wide_b);
  for (int draw = 0; draw < 4; ++draw) {
    const double x = inside(a);
    const double y = inside(b);
    const double z = f.evaluate(operand(x), operand(y));
    for (double result : {z, f.value(x, y)}) {
      ASSERT_TRUE(fb.contains(result))
          << format.name << ' ' << f.name << ' ' << show(a) << ", " << show(b) << " at " << x
          << ", " << y << " gives " << result << " not in " << show(fb);
      ASSERT_TRUE(fi.contains(result))
          << format.name << ' ' << f.name << ' ' << show(wide_a) << ", " << show(wide_b) << " at "
          << x << ", " << y << " gives " << result << " not in " << show(fi);
    }
  }
  const double value = f.value(a.value, b.value);
  ASSERT_TRUE(fb.value == value || (std::isnan(fb.value) && std::isnan(value))) << f.name;
}

TEST(Vocabulary, CoversHonestPairs) {
  for (const Format& format : formats()) {
    const RoundingScope scope(format.rounding);
    for (const Binary& f : binaries()) {
      for (int i = 0; i < 6000; ++i) {
        const Bounded a = bounded(format.rounding);
        const Bounded b = bounded(format.rounding);
        ASSERT_NO_FATAL_FAILURE(check_pair(format, f, a, b));
      }
      for (int i = 0; i < 2000; ++i) {
        const Bounded a{std::round(uniform(-5, 5)), chance(0.7) ? 0 : std::round(uniform(0, 3))};
        const Bounded b{std::round(uniform(-5, 5)), chance(0.7) ? 0 : std::round(uniform(0, 3))};
        ASSERT_NO_FATAL_FAILURE(check_pair(format, f, a, b));
      }
    }
  }
}

TEST(Vocabulary, PairsOfSpecialOperands) {
  const auto special = {0.0,  -0.0,  1.0,  -1.0,  2.0,     -3.0,           0.5,
                        kInf, -kInf, kNan, 1e-40, 65504.0, 0x1.fffffep127, -0x1.fffffep127};
  for (const Format& format : formats()) {
    const RoundingScope scope(format.rounding);
    for (const Binary& f : binaries()) {
      for (double x : special) {
        for (double y : special) {
          const double z = f.value(x, y);
          EXPECT_TRUE(f.bounded({x, 0}, {y, 0}).contains(z))
              << format.name << f.name << x << ' ' << y;
          const Interval point = f.interval(Interval::point(x), Interval::point(y));
          EXPECT_TRUE(point.contains(z)) << format.name << f.name << x << ' ' << y << show(point);
          const Interval wide = f.interval({-kInf, kInf, true}, Interval::point(y));
          EXPECT_TRUE(wide.contains(z)) << f.name << x << ' ' << y << show(wide);
          const Interval half = f.interval({std::fmin(x, 0), std::fmax(x, 0), std::isnan(x)},
                                           {std::fmin(y, 1), std::fmax(y, 1), std::isnan(y)});
          EXPECT_TRUE(half.contains(z)) << f.name << x << ' ' << y << show(half);
        }
      }
    }
  }
}

TEST(Vocabulary, PowersByCase) {
  const RoundingScope scope(Rounding::f32());
  const auto power = [](double low, double high, double from, double to) {
    return pow(Interval{low, high, false}, Interval{from, to, false});
  };
  EXPECT_FALSE(power(-3, 2, 2, 2).nan);
  EXPECT_EQ(power(-3, 2, 2, 2).low, 0);
  EXPECT_NEAR(power(-3, 2, 2, 2).high, 9, 1e-4);
  EXPECT_NEAR(power(-3, 2, 3, 3).low, -27, 1e-3);
  EXPECT_TRUE(power(-3, 2, 0.5, 0.5).nan);
  EXPECT_FALSE(power(0, 2, 0.5, 0.5).nan);
  EXPECT_EQ(power(-3, -2, 0.5, 0.5).has_number(), false);
  EXPECT_EQ(power(-1, 1, -1, -1).low, -kInf);
  EXPECT_NEAR(power(-1, 1, -2, -2).low, 1, 1e-6);
  EXPECT_EQ(power(-1, 1, -2, -2).high, kInf);
}

TEST(Vocabulary, Steps) {
  const RoundingScope scope(Rounding::f32());
  EXPECT_EQ(round_even(2.5), 2);
  EXPECT_EQ(round_even(3.5), 4);
  EXPECT_EQ(floor(Bounded{2.5, 0}).error, 0);
  EXPECT_EQ(floor(Bounded{2.9, 0.2}).value, 2);
  EXPECT_TRUE(floor(Bounded{2.9, 0.2}).contains(3));
  EXPECT_FALSE(floor(Bounded{2.9, 0.2}).contains(4));
  EXPECT_TRUE(sign(Bounded{0.1, 0.2}).contains(-1));
  EXPECT_TRUE((Bounded{1, 0} / round_even(Bounded{-0.25, 0})).is_anything())
      << "the sign of this zero is open";
  EXPECT_TRUE(ceil(Interval{-0.5, 1.5, false}).contains(Interval{0, 2, false}));
  EXPECT_TRUE(std::isnan(sign(kNan)));
  EXPECT_EQ(sign(-0.0), 0);
}

TEST(Vocabulary, MaximumAndMinimumPropagateNaN) {
  EXPECT_TRUE(std::isnan(max(kNan, 1.0)) && std::isnan(max(1.0, kNan)));
  EXPECT_TRUE(std::isnan(min(kNan, 1.0)) && std::isnan(min(1.0, kNan)));
  EXPECT_TRUE(max(Bounded{kNan, 0}, Bounded{1, 0}).is_exact());
  EXPECT_TRUE(std::isnan(max(Bounded{kNan, 0}, Bounded::anything(1)).value));
  EXPECT_TRUE(max(Interval{0, 1, true}, Interval{2, 3, false}).nan);
}

TEST(Vocabulary, ConstantsAreAsTheFormatHoldsThem) {
  const RoundingScope scope(Rounding::f32());
  EXPECT_TRUE(constant<Bounded>(0.5).is_exact());
  EXPECT_TRUE(constant<Bounded>(0.1).contains(0.1f));
  EXPECT_TRUE(constant<Interval>(0.1).contains(0.1f));
  EXPECT_TRUE(constant<Bounded>(1e300).is_anything());
  EXPECT_TRUE(constant<Interval>(1e300).contains(kInf));
  EXPECT_EQ(constant<std::int64_t>(std::int64_t{1} << 62), std::int64_t{1} << 62);
  EXPECT_EQ(constant<Bounded>(7).value, 7);
}

TEST(Vocabulary, IndexCandidates) {
  using Range = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(index_candidates(2.5), Range(2, 2));
  EXPECT_EQ(index_candidates(-2.5), Range(-3, -2));
  EXPECT_EQ(index_candidates(Bounded{2.9, 0.2}), Range(2, 3));
  EXPECT_EQ(index_candidates(Interval{-0.5, 1e30, false}),
            Range(-1, std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ(index_candidates(kNan).first, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(index_candidates(std::int64_t{-7}), Range(-7, -7));
}

}  // namespace
}  // namespace assay::testing

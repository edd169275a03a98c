// Reductions against honest evaluations in random orders, in every format.
#include "scalar/sequences.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include <gtest/gtest.h>

#include "honest.h"

namespace assay::testing {
namespace {

using Values = std::vector<double>;
using Combine = std::function<double(double, double)>;

double plus(double a, double b) {
  return stored(static_cast<long double>(operand(a)) + operand(b));
}
double minus(double a, double b) { return plus(a, -b); }
double times(double a, double b) {
  return stored(static_cast<long double>(operand(a)) * operand(b));
}
double over(double a, double b) {
  return stored(static_cast<long double>(operand(a)) / operand(b));
}

// Combines terms in a random order and tree: two at random until one is left, or one by one.
double in_some_order(Values x, double start, const Combine& combine) {
  if (x.empty()) return start;
  std::ranges::shuffle(x, random_bits());
  if (chance(0.5)) return std::accumulate(x.begin() + 1, x.end(), x[0], combine);
  while (x.size() > 1) {
    const std::size_t i = random_bits()() % (x.size() - 1);
    x[i] = combine(x[i], x.back());
    x.pop_back();
  }
  return x[0];
}

double honest_sum(const Values& x) { return in_some_order(x, 0, plus); }

double honest_mean(Values x) {
  const auto n = static_cast<double>(x.size());
  if (n == 0 || chance(0.5)) return over(honest_sum(x), n);
  if (chance(0.5)) return times(honest_sum(x), over(1, n));
  for (double& v : x) v = over(v, n);
  return honest_sum(x);
}

double honest_dot(const Values& a, const Values& b) {
  Values products(a.size());
  const bool fused = chance(0.3);
  for (std::size_t i = 0; i < a.size(); ++i) {
    products[i] = fused ? a[i] * b[i] : times(a[i], b[i]);
  }
  return honest_sum(products);
}

double honest_variance(Values x) {
  const auto n = static_cast<double>(x.size());
  if (chance(0.5)) {
    const double center = over(honest_sum(x), n);
    for (double& v : x) {
      const double d = minus(v, center);
      v = times(d, d);
    }
    return over(honest_sum(x), n);
  }
  std::ranges::shuffle(x, random_bits());
  double center = n == 0 ? 0 : x[0];
  double squares = 0;
  for (std::size_t i = 1; i < x.size(); ++i) {
    const double v = x[i];
    const double before = minus(v, center);
    center = plus(center, over(before, static_cast<double>(i + 1)));
    // The new mean is between the old one and v, unless precisions are mixed.
    squares = plus(squares, max(times(before, minus(v, center)), 0));
  }
  return over(squares, n);
}

double honest_log_sum_exp(Values x) {
  const double top = maximum(x);
  if (!std::isfinite(top)) return top;
  for (double& v : x) v = stored(Operation::exp, std::exp(static_cast<long double>(minus(v, top))));
  const double total = stored(Operation::log, std::log(static_cast<long double>(honest_sum(x))));
  return plus(top, total);
}

struct Reduction {
  const char* name;
  double (*value)(std::span<const double>);
  Bounded (*bounded)(std::span<const Bounded>);
  Interval (*interval)(std::span<const Interval>);
  std::function<double(const Values&)> honest;
};

const std::vector<Reduction>& reductions() {
  static const std::vector<Reduction> all = {
      {"sum", sum, sum, sum, [](const Values& x) { return honest_sum(x); }},
      {"mean", mean, mean, mean, honest_mean},
      {"variance", variance, variance, variance, honest_variance},
      {"product", product, product, product,
       [](const Values& x) { return in_some_order(x, 1, times); }},
      {"sum_of_squares", sum_of_squares, sum_of_squares, sum_of_squares,
       [](const Values& x) { return honest_dot(x, x); }},
      {"sum_of_absolutes", sum_of_absolutes, sum_of_absolutes, sum_of_absolutes,
       [](Values x) {
         for (double& v : x) v = std::fabs(v);
         return honest_sum(x);
       }},
      {"maximum", maximum, maximum, maximum, [](Values x) { return maximum(x); }},
      {"minimum", minimum, minimum, minimum, [](Values x) { return minimum(x); }},
      {"log_sum_exp", log_sum_exp, log_sum_exp, log_sum_exp, honest_log_sum_exp}};
  return all;
}

struct Row {
  std::vector<Bounded> bounded;
  std::vector<Interval> intervals;

  Values values() const {
    Values result;
    for (const Bounded& x : bounded) result.push_back(x.value);
    return result;
  }

  Values drawn() const {
    Values result;
    for (const Bounded& x : bounded) result.push_back(inside(x));
    return result;
  }
};

// Rows of all kinds: of one size, of all sizes, whole numbers, with a far mean, with zeros.
Row row(const Rounding& format, std::size_t n) {
  Row result;
  const double kind = uniform(0, 1);
  const double center = nearest(format, std::fmin(uniform(-1e3, 1e3), format.largest / 64));
  for (std::size_t i = 0; i < n; ++i) {
    Bounded x = bounded(format);
    if (kind < 0.25) x = {nearest(format, uniform(-2, 2)), 0};
    if (kind < 0.15) x = {std::round(uniform(-9, 9)), 0};
    if (kind > 0.5) x = {nearest(format, center + uniform(-1, 1)), 0};
    if (kind > 0.75) x.error = chance(0.5) ? 0 : uniform(0, 4) * format.unit * std::fabs(x.value);
    if (!std::isfinite(x.value)) x = {1, 0};
    if (chance(0.05)) x = {0, 0};
    result.bounded.push_back(x);
    result.intervals.push_back(chance(0.5) ? enclose(x) : around(x));
  }
  return result;
}

void check(const std::string& what, const Reduction& f, const Row& r) {
  const Bounded fb = f.bounded(r.bounded);
  const Interval fi = f.interval(r.intervals);
  for (int draw = 0; draw < 6; ++draw) {
    const Values x = r.drawn();
    for (double y : {f.honest(x), f.value(x)}) {
      ASSERT_TRUE(fb.contains(y)) << what << ' ' << f.name << " of " << x.size() << " gives " << y
                                  << " not in " << show(fb);
      ASSERT_TRUE(fi.contains(y)) << what << ' ' << f.name << " of " << x.size() << " gives " << y
                                  << " not in " << show(fi);
    }
  }
  const double value = f.value(r.values());
  ASSERT_TRUE(fb.value == value || (std::isnan(fb.value) && std::isnan(value))) << f.name;
}

TEST(Sequences, CoverHonestEvaluationsInAnyOrder) {
  for (const Format& format : formats()) {
    const RoundingScope scope(format.rounding);
    for (const Reduction& f : reductions()) {
      for (int i = 0; i < 600; ++i) {
        const std::size_t n = i < 100 ? i % 4 : random_bits()() % (i < 550 ? 20 : 300);
        ASSERT_NO_FATAL_FAILURE(check(format.name, f, row(format.rounding, n)));
      }
    }
  }
}

TEST(Sequences, DotCoversHonestEvaluations) {
  for (const Format& format : formats()) {
    const RoundingScope scope(format.rounding);
    for (int i = 0; i < 2000; ++i) {
      const std::size_t n = random_bits()() % 24;
      const Row a = row(format.rounding, n);
      const Row b = row(format.rounding, n);
      const Bounded fb = dot(a.bounded, b.bounded);
      const Interval fi = dot(a.intervals, b.intervals);
      for (int draw = 0; draw < 6; ++draw) {
        const Values x = a.drawn();
        const Values y = b.drawn();
        for (double z : {honest_dot(x, y), dot(x, y)}) {
          ASSERT_TRUE(fb.contains(z)) << format.name << ' ' << z << " not in " << show(fb);
          ASSERT_TRUE(fi.contains(z)) << format.name << ' ' << z << " not in " << show(fi);
        }
      }
      ASSERT_TRUE(fb.value == dot(a.values(), b.values()) || std::isnan(fb.value));
    }
  }
}

TEST(Sequences, WiderPartialSums) {
  for (const Rounding& narrow : {Rounding::f16(), Rounding::bf16()}) {
    const Rounding format = narrow.accumulating_in(Rounding::f32());
    const RoundingScope scope(format);
    for (int i = 0; i < 300; ++i) {
      Row r;
      for (int k = 0; k < 1000; ++k) r.bounded.push_back({nearest(narrow, uniform(-1, 1)), 0});
      for (const Bounded& x : r.bounded) r.intervals.push_back(enclose(x));
      const Bounded total = sum(r.bounded);
      const double size = sum_of_absolutes(r.values());
      ASSERT_LT(total.error, 1.05 * (narrow.unit * std::fabs(total.value) + 1000 * 0x1p-24 * size));
      double honest = 0;
      {
        const RoundingScope wide(Rounding::f32());
        honest = honest_sum(r.drawn());
      }
      ASSERT_TRUE(total.contains(nearest(narrow, honest)));
      ASSERT_TRUE(sum(r.intervals).contains(nearest(narrow, honest)));
    }
  }
}

TEST(Sequences, InfinitiesAndNaN) {
  const auto special = {0.0, -0.0, 1.0, -2.0, kInf, -kInf, kNan, 1e-40, 3e38, -3e38};
  for (const Format& format : formats()) {
    const RoundingScope scope(format.rounding);
    for (const Reduction& f : reductions()) {
      for (double a : special) {
        for (double b : special) {
          for (double c : special) {
            Row r;
            for (double x : {a, b, c}) {
              r.bounded.push_back({x, 0});
              r.intervals.push_back(Interval::point(x));
            }
            ASSERT_NO_FATAL_FAILURE(check(format.name, f, r)) << a << ' ' << b << ' ' << c;
          }
        }
      }
    }
  }
}

TEST(Sequences, OneInfinityDecides) {
  const RoundingScope scope(Rounding::f32());
  const std::vector<Bounded> one = {{1, 0}, {kInf, 0}, {-5, 0.5}};
  EXPECT_TRUE(sum(one).is_exact() && sum(one).value == kInf);
  const std::vector<Bounded> both = {{-kInf, 0}, {kInf, 0}, {-5, 0.5}};
  EXPECT_TRUE(sum(both).is_exact() && std::isnan(sum(both).value));
  const std::vector<Interval> wide = {{-kInf, kInf, false}, {0, 1, false}};
  EXPECT_FALSE(sum(wide).nan) << "one term cannot be both infinities";
  const std::vector<Interval> wider = {{-kInf, kInf, false}, {0, kInf, false}};
  EXPECT_TRUE(sum(wider).nan);
}

TEST(Sequences, OrderMattersInFloat32) {
  const RoundingScope scope(Rounding::f32());
  std::vector<Bounded> x = {{1e8, 0}, {-1e8, 0}};
  x.resize(1002, {1, 0});
  float forward = 0;
  for (const Bounded& v : x) forward += static_cast<float>(v.value);
  float other = 1e8F;
  for (int i = 0; i < 1000; ++i) other += 1;
  other -= 1e8F;
  EXPECT_EQ(forward, 1000);
  EXPECT_EQ(other, 0);
  const Bounded total = sum(x);
  EXPECT_EQ(total.value, 1000);
  EXPECT_TRUE(total.contains(forward));
  EXPECT_TRUE(total.contains(other));
  EXPECT_LT(total.error, 13000) << "γ(1002) · 2e8";
}

TEST(Sequences, WholeNumbersStayExact) {
  const RoundingScope scope(Rounding::f32());
  std::vector<Bounded> x;
  for (int i = -500; i <= 600; ++i) x.push_back({i * 0.25, 0});
  EXPECT_TRUE(sum(x).is_exact());
  EXPECT_EQ(sum(x).value, 0.125 * (600 * 601 - 500 * 501));
  const auto few = std::span<const Bounded>(x).subspan(400, 200);
  EXPECT_TRUE(dot(few, few).is_exact());
  x.push_back({0x1p24, 0});
  EXPECT_FALSE(sum(x).is_exact()) << "a quarter is lost beside 2^24";
  const std::vector<Bounded> factors = {{3, 0}, {5, 0}, {0.5, 0}, {-7, 0}};
  EXPECT_TRUE(product(factors).is_exact());
  const std::vector<Interval> ends(10, Interval{0, 1, false});
  EXPECT_EQ(sum(ends).high, 10);
  EXPECT_EQ(sum(ends).low, 0);
}

TEST(Sequences, SumIsTight) {
  const RoundingScope scope(Rounding::f32());
  std::vector<Bounded> x;
  for (int i = 0; i < 1000; ++i) x.push_back({nearest(Rounding::f32(), uniform(-1, 1)), 0});
  double size = 0;
  for (const Bounded& v : x) size += std::fabs(v.value);
  EXPECT_LT(sum(x).error, 1.02 * 1000 * 0x1p-24 * size);
  EXPECT_GT(sum(x).error, 0.98 * 999 * 0x1p-24 * size);
}

TEST(Sequences, GammaTooLargeIsAnything) {
  const RoundingScope scope(Rounding::bf16());
  const std::vector<Bounded> x(300, {0.3359375, 0});
  EXPECT_TRUE(sum(x).is_anything());
  EXPECT_EQ(rounding().accumulation(256), kInf);
}

// The interval of a softmax must stay finite, and positive.
TEST(Sequences, SoftmaxOfIntervalsStaysFinite) {
  const RoundingScope scope(Rounding::f32());
  const std::vector<Interval> x(10, Interval{0, 10, false});
  const Interval top = maximum(x);
  std::vector<Interval> powers;
  for (const Interval& v : x) powers.push_back(exp(v - top));
  const Interval share = powers[0] / sum(powers);
  EXPECT_FALSE(share.nan);
  EXPECT_GT(share.low, 0);
  EXPECT_LT(share.high, 5e7);
  EXPECT_TRUE(share.contains(0.1));
  const Interval logarithm = log_sum_exp(x);
  EXPECT_NEAR(logarithm.low, std::log(10.0), 1e-4);
  EXPECT_NEAR(logarithm.high, 10 + std::log(10.0), 1e-4);
}

TEST(Sequences, VarianceOfIntervals) {
  const RoundingScope scope(Rounding::f32());
  const std::vector<Interval> x(16, Interval{-1, 3, false});
  EXPECT_EQ(variance(x).low, 0);
  EXPECT_NEAR(variance(x).high, 4, 1e-2) << "Popoviciu: a quarter of the square of the width";
  const std::vector<Interval> apart = {{0, 1, false}, {9, 10, false}};
  EXPECT_GT(variance(apart).low, 15.9);
  EXPECT_LT(variance(apart).high, 25.1);
}

TEST(Sequences, DoubleSumsAreAccurateAndEmptyOnesDefined) {
  Values x(100001, 0.1);
  EXPECT_NEAR(sum(x), 10000.1, 1e-10);
  const Values none;
  EXPECT_EQ(sum(none), 0);
  EXPECT_EQ(product(none), 1);
  EXPECT_EQ(maximum(none), -kInf);
  EXPECT_EQ(minimum(none), kInf);
  EXPECT_TRUE(std::isnan(mean(none)));
  EXPECT_TRUE(std::isnan(variance(none)));
  EXPECT_EQ(log_sum_exp(none), -kInf);
  EXPECT_EQ(log_sum_exp(Values{1000, 1000}), 1000 + std::log(2.0));
}

}  // namespace
}  // namespace assay::testing

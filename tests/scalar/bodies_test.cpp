// Bodies of several operations: a third reading evaluates them honestly, drawing every rounding.
#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "honest.h"

namespace assay::testing {
namespace {

using assay::abs, assay::erf, assay::exp, assay::floor, assay::less, assay::log, assay::max;
using assay::min, assay::round_even, assay::select, assay::sigmoid, assay::softplus;
using assay::sqrt, assay::tanh;

// One evaluation in the current format.
struct Honest {
  double v;
};

Honest operator+(Honest a, Honest b) {
  return {stored(static_cast<long double>(operand(a.v)) + operand(b.v))};
}
Honest operator-(Honest a) { return {-a.v}; }
Honest operator-(Honest a, Honest b) { return a + -b; }
Honest operator*(Honest a, Honest b) {
  return {stored(static_cast<long double>(operand(a.v)) * operand(b.v))};
}
Honest operator/(Honest a, Honest b) {
  return {stored(static_cast<long double>(operand(a.v)) / operand(b.v))};
}

double within_range(double y, double low, double high) {
  return std::isnan(y) ? y : std::fmin(high, std::fmax(low, y));
}

Honest exp(Honest x) {
  return {stored(Operation::exp, std::exp(static_cast<long double>(operand(x.v))))};
}
Honest log(Honest x) {
  return {stored(Operation::log, std::log(static_cast<long double>(operand(x.v))))};
}
Honest sqrt(Honest x) { return {stored(std::sqrt(static_cast<long double>(operand(x.v))))}; }
Honest tanh(Honest x) {
  const long double exact = std::tanh(static_cast<long double>(operand(x.v)));
  return {within_range(stored(Operation::tanh, exact), -1, 1)};
}
Honest erf(Honest x) {
  const long double exact = std::erf(static_cast<long double>(operand(x.v)));
  return {within_range(stored(Operation::erf, exact), -1, 1)};
}
// As the formulas stand, which is where frameworks lose most (if the format allows for it).
bool as_it_stands(Operation function) {
  return rounding().functions[static_cast<std::size_t>(function)].absolute > 0;
}
Honest sigmoid(Honest x) {
  if (!as_it_stands(Operation::sigmoid)) return {assay::sigmoid(x.v)};
  return Honest{1} / (Honest{1} + exp(-x));
}
Honest softplus(Honest x) {
  if (!as_it_stands(Operation::softplus)) return {assay::softplus(x.v)};
  return x.v > 20 ? x : log(Honest{1} + exp(x));
}
Honest abs(Honest x) { return {std::fabs(x.v)}; }
Honest max(Honest a, Honest b) { return {assay::max(operand(a.v), operand(b.v))}; }
Honest min(Honest a, Honest b) { return {assay::min(operand(a.v), operand(b.v))}; }
Honest floor(Honest x) { return {stored(std::floor(operand(x.v)))}; }
Honest round_even(Honest x) { return {stored(std::nearbyint(operand(x.v)))}; }
bool less(Honest a, Honest b) { return operand(a.v) < operand(b.v); }
Honest select(bool condition, Honest a, Honest b) { return condition ? a : b; }

template <class S>
S number_of(double x) {
  if constexpr (std::same_as<S, Honest>) {
    return {stored(x)};
  } else {
    return constant<S>(x);
  }
}

// The bodies of some operators, and some that are only hard.
template <class S>
std::vector<S> bodies(const S& x, const S& y) {
  const S zero = number_of<S>(0);
  const S one = number_of<S>(1);
  const S half = number_of<S>(0.5);
  return {
      x * half * (one + erf(x * number_of<S>(0.7071067811865476))),
      x * tanh(softplus(x)),
      x * max(zero, min(one, x * number_of<S>(1.0 / 6) + half)),
      select(less(x, zero), number_of<S>(1.6733) * (exp(x) - one), x) * number_of<S>(1.0507),
      x * sigmoid(number_of<S>(1.702) * x),
      select(less(abs(x), y), x * x * half, abs(y) * (abs(x) - half * abs(y))),
      (x - y) / sqrt(abs(x * y) + number_of<S>(1e-5)),
      min(max(round_even(x / number_of<S>(0.05)) + number_of<S>(3), zero), number_of<S>(255)),
      floor(x * number_of<S>(7.3)) - x,
      log(abs(x) + abs(y)) - log(abs(x)),
      one / (x - y),
      (x + y) * (x - y) - (x * x - y * y),
      exp(x * y) / exp(x),
      sqrt(x * x + y * y) - abs(x),
  };
}

TEST(Bodies, EveryHonestEvaluationIsCovered) {
  for (const Format& format : formats()) {
    const RoundingScope scope(format.rounding);
    for (int i = 0; i < 4000; ++i) {
      const bool near = chance(0.7);
      const auto draw = [&] {
        Bounded x = bounded(format.rounding);
        if (near) x.value = nearest(format.rounding, uniform(-4, 4));
        if (near && chance(0.5)) x.error = 0;
        return x;
      };
      const Bounded a = draw();
      const Bounded b = draw();
      const Interval wide_a = around(a);
      const Interval wide_b = around(b);
      const std::vector<Bounded> bounded_results = bodies(a, b);
      const std::vector<Interval> interval_results = bodies(wide_a, wide_b);
      const std::vector<double> values = bodies(a.value, b.value);
      for (int k = 0; k < 4; ++k) {
        const double x = inside(a);
        const double y = inside(b);
        const std::vector<Honest> evaluated = bodies(Honest{x}, Honest{y});
        const std::vector<double> in_double = bodies(x, y);
        for (std::size_t body = 0; body < values.size(); ++body) {
          for (double z : {evaluated[body].v, in_double[body]}) {
            ASSERT_TRUE(bounded_results[body].contains(z))
                << format.name << " body " << body << ' ' << show(a) << ' ' << show(b) << " gives "
                << z << " not in " << show(bounded_results[body]);
            ASSERT_TRUE(interval_results[body].contains(z))
                << format.name << " body " << body << ' ' << show(wide_a) << ' ' << show(wide_b)
                << " gives " << z << " not in " << show(interval_results[body]);
          }
          ASSERT_TRUE(interval_results[body].contains(values[body]));
          ASSERT_TRUE(bounded_results[body].value == values[body] || std::isnan(values[body]));
        }
      }
    }
  }
}

// Bounds must also be of use: on plain operands a body of a few operations is known to a few units.
TEST(Bodies, BoundsAreOfUse) {
  const RoundingScope scope(Rounding::f32());
  for (int i = 0; i < 2000; ++i) {
    const Bounded x{nearest(Rounding::f32(), uniform(0.1, 3)), 0};
    const Bounded y{nearest(Rounding::f32(), uniform(0.1, 3)), 0};
    const std::vector<Bounded> results = bodies(x, y);
    for (std::size_t body : {0, 1, 2, 3, 4}) {
      ASSERT_LT(results[body].error, 64 * 0x1p-24 * std::fabs(results[body].value)) << body;
    }
  }
}

}  // namespace
}  // namespace assay::testing

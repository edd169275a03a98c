// The vocabulary of intervals: the exact image, widened to what the format may make of its ends.
#include <algorithm>
#include <cmath>
#include <limits>

#include "scalar/enclosure.h"
#include "scalar/outward.h"
#include "scalar/vocabulary.h"
#include "scalar/watch.h"

namespace assay {
namespace {

// An end of an image is exact as an infinity, which is attained, and as a zero, which no honest
// evaluation passes.
End end_of(Operation function, double value) {
  const auto index = static_cast<std::size_t>(function);
  const bool keeps_zero = rounding().functions[index].absolute == 0;
  return {value, std::isinf(value) || (value == 0 && keeps_zero)};
}

Interval widened(Operation function, const Interval& image) {
  if (!image.has_number()) return image;
  return flushed({lower_end(function, end_of(function, image.low)),
                  upper_end(function, end_of(function, image.high)), image.nan});
}

Interval unary(Operation function, const Interval& x) {
  Interval result = widened(function, enclosure::image(function, flushed(x)));
  const Interval range = enclosure::range_of(function);
  if (result.has_number()) {
    result.low = std::max(result.low, range.low);
    result.high = std::min(result.high, range.high);
  }
  if (Watch* seen = watch()) seen->applied(function, x, Interval::no_number(false), result);
  return result;
}

void note_comparison() {
  if (Watch* seen = watch()) seen->compared();
}

Interval step(const Interval& operand, double (*f)(double)) {
  note_comparison();
  const Interval x = flushed(operand);
  if (!x.has_number()) return x;
  const auto end = [&](double value) -> End {
    return {f(value), std::isinf(value) || rounding().holds(f(value))};
  };
  return {lower_end(Operation::add, end(x.low)), upper_end(Operation::add, end(x.high)), x.nan};
}

std::int64_t saturated(double whole) {
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  if (whole >= 0x1p63) return kMost;
  return whole < -0x1p63 ? kLeast : static_cast<std::int64_t>(whole);
}

}  // namespace

double to_double(const Interval& x) {
  if (!x.has_number()) return kNaN;
  if (x.low == -kInfinity) return x.high == kInfinity ? 0 : -kInfinity;
  return x.high == kInfinity ? kInfinity : x.low / 2 + x.high / 2;
}

std::pair<std::int64_t, std::int64_t> index_candidates(double x) {
  return index_candidates(Interval::point(x));
}

std::pair<std::int64_t, std::int64_t> index_candidates(const Interval& x) {
  note_comparison();
  if (x.nan || !x.has_number()) return {saturated(-kInfinity), saturated(kInfinity)};
  return {saturated(std::floor(x.low)),
          saturated(x.high < 0 ? std::ceil(x.high) : std::floor(x.high))};
}

Interval abs(const Interval& x) {
  note_comparison();
  if (!x.has_number()) return x;
  const double near = x.low > 0 ? x.low : x.high < 0 ? -x.high : 0;
  return {near, std::max(-x.low, x.high), x.nan};
}

Interval square(const Interval& x) {
  const Interval size = abs(flushed(x));
  if (!size.has_number()) return size;
  // As products of points: 0 · infinity cannot happen.
  const Interval least = Interval::point(size.low) * Interval::point(size.low);
  const Interval most = Interval::point(size.high) * Interval::point(size.high);
  return {least.low, most.high, x.nan};
}

Interval reciprocal(const Interval& x) {
  const Interval quotient = Interval::point(1) / x;
  return rounding().rounds_correctly(Operation::reciprocal)
             ? quotient
             : widened(Operation::reciprocal, quotient);
}

Interval divide(const Interval& a, const Interval& b) { return a / b; }

Interval max(const Interval& left, const Interval& right) {
  const Interval a = flushed(left);
  const Interval b = flushed(right);
  const bool nan = a.nan || b.nan;
  if (!a.has_number() || !b.has_number()) return Interval::no_number(nan);
  const Interval result{std::max(a.low, b.low), std::max(a.high, b.high), nan};
  if (Watch* seen = watch()) seen->chose_larger(a, b, result);
  return result;
}

Interval min(const Interval& a, const Interval& b) { return -max(-a, -b); }

Interval sign(const Interval& x) { return step(x, sign); }
Interval floor(const Interval& x) { return step(x, floor); }
Interval ceil(const Interval& x) { return step(x, ceil); }
Interval truncate(const Interval& x) { return step(x, truncate); }
Interval round_even(const Interval& x) { return step(x, round_even); }

Interval sqrt(const Interval& operand) {
  const Interval x = flushed(operand);
  Interval result = unary(Operation::square_root, x);
  if (!result.has_number() || !rounding().rounds_correctly(Operation::square_root)) return result;
  const auto is_settled = [](double end) {
    const double root = std::sqrt(std::max(end, 0.0));
    return rounding().holds(root) && root_is_exact(std::max(end, 0.0), root);
  };
  if (is_settled(x.low)) result.low = std::sqrt(std::max(x.low, 0.0));
  if (is_settled(x.high)) result.high = std::sqrt(std::max(x.high, 0.0));
  return result;
}

Interval exp(const Interval& x) { return unary(Operation::exp, x); }
Interval expm1(const Interval& x) { return unary(Operation::expm1, x); }
Interval log(const Interval& x) { return unary(Operation::log, x); }
Interval log1p(const Interval& x) { return unary(Operation::log1p, x); }
Interval sin(const Interval& x) { return unary(Operation::sin, x); }
Interval cos(const Interval& x) { return unary(Operation::cos, x); }
Interval tan(const Interval& x) { return unary(Operation::tan, x); }
Interval asin(const Interval& x) { return unary(Operation::asin, x); }
Interval acos(const Interval& x) { return unary(Operation::acos, x); }
Interval atan(const Interval& x) { return unary(Operation::atan, x); }
Interval sinh(const Interval& x) { return unary(Operation::sinh, x); }
Interval cosh(const Interval& x) { return unary(Operation::cosh, x); }
Interval tanh(const Interval& x) { return unary(Operation::tanh, x); }
Interval asinh(const Interval& x) { return unary(Operation::asinh, x); }
Interval acosh(const Interval& x) { return unary(Operation::acosh, x); }
Interval atanh(const Interval& x) { return unary(Operation::atanh, x); }
Interval erf(const Interval& x) { return unary(Operation::erf, x); }
Interval sigmoid(const Interval& x) { return unary(Operation::sigmoid, x); }
Interval softplus(const Interval& x) { return unary(Operation::softplus, x); }

Interval atan2(const Interval& y, const Interval& x) {
  return widened(Operation::atan2, enclosure::atan2(flushed(y), flushed(x)));
}

Interval pow(const Interval& a, const Interval& b) {
  const Interval result = widened(Operation::pow, enclosure::pow(flushed(a), flushed(b)));
  if (Watch* seen = watch()) seen->applied(Operation::pow, a, b, result);
  return result;
}

Interval fmod(const Interval& a, const Interval& b) {
  return widened(Operation::divide, enclosure::fmod(flushed(a), flushed(b)));
}

Interval floor_mod(const Interval& a, const Interval& b) {
  return widened(Operation::divide, enclosure::floor_mod(flushed(a), flushed(b)));
}

}  // namespace assay

// The vocabulary of bounded numbers: the exact image of what is covered, and its rounding.
#include <algorithm>
#include <cmath>

#include "scalar/enclosure.h"
#include "scalar/outward.h"
#include "scalar/tier.h"
#include "scalar/vocabulary.h"

namespace assay {
namespace {

bool is_exact_nan(const Bounded& x) { return std::isnan(x.value) && x.is_exact(); }

// How far the image reaches from the value of the function.
double reach(double value, const Interval& image) {
  return kUp * std::max(image.high - value, value - image.low);
}

// A function whose exact results lie in `image`, and which gives `value` in double.
Bounded measured(Operation function, double value, const Interval& image) {
  if (image.nan) return image.has_number() ? Bounded::anything(value) : Bounded{kNaN, 0};
  const Rounding& format = rounding();
  const bool known = image.low == image.high && image.low == value;
  const auto index = static_cast<std::size_t>(function);
  if (known && (std::isinf(value) || format.functions[index].absolute == 0)) return {value, 0};
  const double off = reach(value, image);
  const double error = off + format.error(function, std::fabs(value) + off);
  return settle(value, kUp * error);
}

Bounded unary(Operation function, const Bounded& operand) {
  const Bounded x = flushed(operand);
  const double value = enclosure::value_of(function, x.value);
  if (x.is_exact()) {
    const auto image = enclosure::image_of_point(function, x.value, value);
    if (image) return measured(function, value, *image);
  }
  return measured(function, value, enclosure::image(function, enclose(x)));
}

// Whether results that lie apart are one decision, to be taken as the value says.
bool decide(bool apart) {
  if (apart) note_open_decision();
  return apart && tier().decided;
}

// A function with whole results. A zero that was not zero before may come out with either sign;
// whole numbers that the format may not hold are rounded.
Bounded step(const Bounded& operand, double (*f)(double)) {
  const Bounded x = flushed(operand);
  if (x.is_anything() || !std::isfinite(x.value)) return {f(x.value), x.error};
  const double value = f(x.value);
  Interval image{f(x.low()), f(x.high()), false};
  if (decide(image.low != image.high)) image = Interval::point(value);
  const double most = std::max(-image.low, image.high);
  if (!x.is_exact() && most * rounding().unit > 1) return rounded(value, reach(value, image));
  const bool was_zero = x.value == 0 && x.is_exact();
  const bool unsure_zero = value == 0 && std::signbit(image.low) && !was_zero;
  return {value, std::max(reach(value, image), unsure_zero ? kSmallestDouble : 0)};
}

// The remainder a − b·q that is `value` for the values. Where its quotient q is open, the image is
// all that a remainder can be.
Bounded remainder(const Bounded& a, const Bounded& b, double value, const Interval& image) {
  const double quotient = (a.value - value) / b.value;
  const double moved = kUp * (a.error + std::fabs(quotient) * b.error);
  const bool apart = std::isfinite(moved) && reach(value, image) > 2 * moved;
  if (!decide(apart)) return measured(Operation::divide, value, image);
  return settle(value, kUp * (moved + rounding().error(Operation::divide, std::fabs(value))));
}

}  // namespace

std::pair<std::int64_t, std::int64_t> index_candidates(const Bounded& x) {
  const auto candidates = index_candidates(enclose(x));
  return decide(candidates.first != candidates.second) ? index_candidates(x.value) : candidates;
}

Bounded abs(const Bounded& x) { return {std::fabs(x.value), x.error}; }

Bounded square(const Bounded& x) { return x * x; }

Bounded reciprocal(const Bounded& operand) {
  const Bounded x = flushed(operand);
  const Bounded quotient = Bounded{1, 0} / x;
  if (rounding().rounds_correctly(Operation::reciprocal) || !std::isfinite(quotient.value) ||
      quotient.is_anything()) {
    return quotient;
  }
  const double size = std::fabs(quotient.value) + quotient.error;
  return settle(quotient.value,
                kUp * (quotient.error + rounding().error(Operation::reciprocal, size)));
}

Bounded divide(const Bounded& a, const Bounded& b) { return a / b; }

Bounded max(const Bounded& left, const Bounded& right) {
  const Bounded a = flushed(left);
  const Bounded b = flushed(right);
  const double value = max(a.value, b.value);
  if (is_exact_nan(a) || is_exact_nan(b)) return {kNaN, 0};
  if (a.is_anything() || b.is_anything()) return Bounded::anything(value);
  if (a.low() > b.high()) return a;
  if (b.low() > a.high()) return b;
  if (std::isinf(value)) return {value, 0};
  const Interval image{std::max(a.low(), b.low()), std::max(a.high(), b.high()), false};
  const bool unsure_zero = value == 0 && std::signbit(a.value) != std::signbit(b.value);
  return {value, std::max(reach(value, image), unsure_zero ? kSmallestDouble : 0)};
}

Bounded min(const Bounded& a, const Bounded& b) {
  Bounded result = -max(-a, -b);
  if (!std::isnan(result.value)) result.value = min(a.value, b.value);
  return result;
}

Bounded sign(const Bounded& x) { return step(x, sign); }
Bounded floor(const Bounded& x) { return step(x, floor); }
Bounded ceil(const Bounded& x) { return step(x, ceil); }
Bounded truncate(const Bounded& x) { return step(x, truncate); }
Bounded round_even(const Bounded& x) { return step(x, round_even); }

Bounded sqrt(const Bounded& operand) {
  const Bounded x = flushed(operand);
  const double root = std::sqrt(x.value);
  if (x.is_exact() && x.value >= 0 && rounding().rounds_correctly(Operation::square_root) &&
      rounding().holds(root) && root_is_exact(x.value, root)) {
    return {root, 0};
  }
  return unary(Operation::square_root, x);
}

Bounded exp(const Bounded& x) { return unary(Operation::exp, x); }
Bounded expm1(const Bounded& x) { return unary(Operation::expm1, x); }
Bounded log(const Bounded& x) { return unary(Operation::log, x); }
Bounded log1p(const Bounded& x) { return unary(Operation::log1p, x); }
Bounded sin(const Bounded& x) { return unary(Operation::sin, x); }
Bounded cos(const Bounded& x) { return unary(Operation::cos, x); }
Bounded tan(const Bounded& x) { return unary(Operation::tan, x); }
Bounded asin(const Bounded& x) { return unary(Operation::asin, x); }
Bounded acos(const Bounded& x) { return unary(Operation::acos, x); }
Bounded atan(const Bounded& x) { return unary(Operation::atan, x); }
Bounded sinh(const Bounded& x) { return unary(Operation::sinh, x); }
Bounded cosh(const Bounded& x) { return unary(Operation::cosh, x); }
Bounded tanh(const Bounded& x) { return unary(Operation::tanh, x); }
Bounded asinh(const Bounded& x) { return unary(Operation::asinh, x); }
Bounded acosh(const Bounded& x) { return unary(Operation::acosh, x); }
Bounded atanh(const Bounded& x) { return unary(Operation::atanh, x); }
Bounded erf(const Bounded& x) { return unary(Operation::erf, x); }
Bounded sigmoid(const Bounded& x) { return unary(Operation::sigmoid, x); }
Bounded softplus(const Bounded& x) { return unary(Operation::softplus, x); }

Bounded atan2(const Bounded& left, const Bounded& right) {
  const Bounded y = flushed(left);
  const Bounded x = flushed(right);
  return measured(Operation::atan2, std::atan2(y.value, x.value),
                  enclosure::atan2(enclose(y), enclose(x)));
}

Bounded pow(const Bounded& left, const Bounded& right) {
  const Bounded a = flushed(left);
  const Bounded b = flushed(right);
  const double value = std::pow(a.value, b.value);
  const bool one = (b.value == 0 && b.is_exact()) || (a.value == 1 && a.is_exact());
  if (one) return {1, 0};
  // The sign of an exact zero counts, which the image leaves open.
  if (a.value == 0 && a.is_exact() && b.is_exact()) return {value, 0};
  return measured(Operation::pow, value, enclosure::pow(enclose(a), enclose(b)));
}

Bounded fmod(const Bounded& left, const Bounded& right) {
  const Bounded a = flushed(left);
  const Bounded b = flushed(right);
  const double value = std::fmod(a.value, b.value);
  if (a.is_exact() && b.is_exact()) return rounded(value);
  return remainder(a, b, value, enclosure::fmod(enclose(a), enclose(b)));
}

Bounded floor_mod(const Bounded& left, const Bounded& right) {
  const Bounded a = flushed(left);
  const Bounded b = flushed(right);
  if (a.is_exact() && b.is_exact()) {
    const double rest = std::fmod(a.value, b.value);
    if (rest == 0) return {std::copysign(rest, b.value), 0};
    return (rest < 0) != (b.value < 0) ? Bounded{rest, 0} + b : rounded(rest);
  }
  return remainder(a, b, floor_mod(a.value, b.value), enclosure::floor_mod(enclose(a), enclose(b)));
}

}  // namespace assay

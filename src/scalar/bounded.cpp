#include "scalar/bounded.h"

#include <algorithm>
#include <cmath>

#include "scalar/outward.h"

namespace assay {
namespace {

constexpr bool is_exact_nan(const Bounded& x) { return x.value != x.value && x.is_exact(); }

bool is_plain(const Bounded& x) { return std::isfinite(x.value) && !x.is_anything(); }

bool may_be_zero(const Bounded& x) { return std::fabs(x.value) <= x.error; }

constexpr bool is_exact_zero(const Bounded& x) { return x.value == 0 && x.is_exact(); }

// Operands that are infinite, NaN or anything, of an operation that gives `value` for them and
// where no finite operand can make a difference.
Bounded absorb(const Bounded& a, const Bounded& b, double value) {
  if (is_exact_nan(a) || is_exact_nan(b)) return {kNaN, 0};
  if (a.is_anything() || b.is_anything()) return Bounded::anything(value);
  return {value, 0};
}

// What the public functions of the same names do, in a format that is looked up once: they are
// called for every element of every tensor.
Bounded settle_in(const Rounding& format, double value, double error) {
  const double size = std::fabs(value);
  if (format.flushes_subnormals && size - error < format.smallest_normal) {
    error = std::max(error, size);
  }
  // Not the negation: NaN must end here too.
  if (!(size + error <= format.largest)) return Bounded::anything(value);
  return {value, error};
}

Bounded flushed_in(const Rounding& format, Bounded x) {
  if (!format.flushes_subnormals || !is_plain(x)) return x;
  const double size = std::fabs(x.value);
  if (size - x.error < format.smallest_normal) x.error = std::max(x.error, size);
  return x;
}

Bounded arithmetic(const Rounding& format, Operation function, double value, double propagated) {
  const double error = propagated + format.error(function, std::fabs(value) + propagated);
  return settle_in(format, value, kUp * error);
}

// Whether `value`, exact in double, is what every evaluation gives.
bool stays_exact(const Rounding& format, Operation function, double value) {
  return format.rounds_correctly(function) && format.holds(value);
}

Bounded divide_by_zero(const Bounded& a, const Bounded& b) {
  const double value = a.value / b.value;
  if (!is_exact_zero(b)) return Bounded::anything(value);
  if (is_exact_zero(a)) return {kNaN, 0};
  return may_be_zero(a) ? Bounded::anything(value) : Bounded{value, 0};
}

}  // namespace

double Bounded::low() const {
  if (is_exact()) return value;
  return is_anything() ? -kInfinity : add_down(value, -error);
}

double Bounded::high() const {
  if (is_exact()) return value;
  return is_anything() ? kInfinity : add_up(value, error);
}

bool Bounded::contains(double x) const {
  if (is_anything()) return true;
  if (std::isnan(value)) return std::isnan(x);
  if (std::isinf(value)) return x == value;
  return std::fabs(x - value) <= error;
}

Bounded settle(double value, double error) { return settle_in(rounding(), value, error); }

Bounded rounded(double x, double error) {
  if (!std::isfinite(x) || (error == 0 && rounding().holds(x))) return {x, 0};
  return arithmetic(rounding(), Operation::add, x, error);
}

Bounded flushed(Bounded x) { return flushed_in(rounding(), x); }

Bounded operator+(Bounded a, Bounded b) {
  const Rounding& format = rounding();
  a = flushed_in(format, a);
  b = flushed_in(format, b);
  const double value = a.value + b.value;
  if (!is_plain(a) || !is_plain(b)) return absorb(a, b, value);
  const double propagated = a.error + b.error;
  if (propagated == 0 && stays_exact(format, Operation::add, value) &&
      sum_residual(a.value, b.value, value) == 0) {
    return {value, 0};
  }
  return arithmetic(format, Operation::add, value, kUp * propagated);
}

Bounded operator-(Bounded a, Bounded b) { return a + -b; }

Bounded operator*(Bounded a, Bounded b) {
  const Rounding& format = rounding();
  a = flushed_in(format, a);
  b = flushed_in(format, b);
  const double value = a.value * b.value;
  if (!is_plain(a) || !is_plain(b)) {
    const bool unsure = (is_plain(a) && !a.is_exact() && may_be_zero(a)) ||
                        (is_plain(b) && !b.is_exact() && may_be_zero(b));
    const bool nan = is_exact_nan(a) || is_exact_nan(b);
    return unsure && !nan ? Bounded::anything(value) : absorb(a, b, value);
  }
  if (is_exact_zero(a) || is_exact_zero(b)) {
    const bool sure = a.is_exact() && b.is_exact();
    return {value, sure ? 0 : kSmallestDouble};
  }
  if (a.is_exact() && b.is_exact() && stays_exact(format, Operation::multiply, value) &&
      product_is_exact(a.value, b.value, value)) {
    return {value, 0};
  }
  const double propagated =
      std::fabs(a.value) * b.error + std::fabs(b.value) * a.error + a.error * b.error;
  return arithmetic(format, Operation::multiply, value, kUp * propagated);
}

Bounded operator/(Bounded a, Bounded b) {
  const Rounding& format = rounding();
  a = flushed_in(format, a);
  b = flushed_in(format, b);
  const double value = a.value / b.value;
  const bool nan = is_exact_nan(a) || is_exact_nan(b);
  if (nan || a.is_anything() || b.is_anything()) return absorb(a, b, value);
  if (std::isfinite(b.value) && may_be_zero(b)) return divide_by_zero(a, b);
  if (!is_plain(a) || !is_plain(b)) {
    // What is left is certain but for the sign of x / ±infinity where x may be on both sides of 0.
    const bool sure = value != 0 || a.is_exact() || !may_be_zero(a);
    return {value, sure ? 0 : kSmallestDouble};
  }
  if (is_exact_zero(a)) return {value, 0};
  if (a.is_exact() && b.is_exact() && stays_exact(format, Operation::divide, value) &&
      quotient_is_exact(a.value, b.value, value)) {
    return {value, 0};
  }
  const double nearest = (std::fabs(b.value) - b.error) / kUp;
  // In this order nothing underflows that matters, but perhaps the value itself.
  const double size = kUp * std::fabs(value) + kSmallestDouble;
  const double propagated = a.error / nearest + size * (b.error / nearest);
  return arithmetic(format, Operation::divide, value, kUp * propagated);
}

Bounded hull(Bounded a, Bounded b) {
  const bool same_value = a.value == b.value || (a.value != a.value && b.value != b.value);
  if (same_value && a.is_exact() && b.is_exact()) {
    return {a.value,
            a.value == 0 && std::signbit(a.value) != std::signbit(b.value) ? kSmallestDouble : 0};
  }
  if (!is_plain(a) || !is_plain(b)) return Bounded::anything(a.value);
  const double reach = kUp * (std::fabs(a.value - b.value) + b.error);
  return {a.value, std::max(a.error, reach)};
}

}  // namespace assay

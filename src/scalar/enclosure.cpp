#include "scalar/enclosure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>

#include "scalar/outward.h"
#include "scalar/vocabulary.h"

namespace assay::enclosure {
namespace {

constexpr double kPi = std::numbers::pi;

enum class Shape : std::uint8_t { rising, falling, even, sine, cosine, tangent, unknown };

struct Definition {
  Operation function;
  double (*value)(double);
  Shape shape;
  double first = -kInfinity;  // the domain; outside is NaN
  double last = kInfinity;
  double lowest = -kInfinity;  // the range
  double highest = kInfinity;
  bool overflows = false;  // an infinite result for a finite argument is overflow, not a pole
};

#define ASSAY_REAL(name) [](double x) { return std::name(x); }

constexpr std::array kDefinitions = {
    Definition{.function = Operation::square_root,
               .value = ASSAY_REAL(sqrt),
               .shape = Shape::rising,
               .first = 0,
               .lowest = 0},
    Definition{.function = Operation::exp,
               .value = assay::exp,
               .shape = Shape::rising,
               .lowest = 0,
               .overflows = true},
    Definition{.function = Operation::expm1,
               .value = ASSAY_REAL(expm1),
               .shape = Shape::rising,
               .lowest = -1,
               .overflows = true},
    Definition{
        .function = Operation::log, .value = ASSAY_REAL(log), .shape = Shape::rising, .first = 0},
    Definition{.function = Operation::log1p,
               .value = ASSAY_REAL(log1p),
               .shape = Shape::rising,
               .first = -1},
    Definition{.function = Operation::sin,
               .value = ASSAY_REAL(sin),
               .shape = Shape::sine,
               .lowest = -1,
               .highest = 1},
    Definition{.function = Operation::cos,
               .value = ASSAY_REAL(cos),
               .shape = Shape::cosine,
               .lowest = -1,
               .highest = 1},
    Definition{.function = Operation::tan, .value = ASSAY_REAL(tan), .shape = Shape::tangent},
    Definition{.function = Operation::asin,
               .value = ASSAY_REAL(asin),
               .shape = Shape::rising,
               .first = -1,
               .last = 1},
    Definition{.function = Operation::acos,
               .value = ASSAY_REAL(acos),
               .shape = Shape::falling,
               .first = -1,
               .last = 1,
               .lowest = 0},
    Definition{.function = Operation::atan, .value = ASSAY_REAL(atan), .shape = Shape::rising},
    Definition{.function = Operation::sinh,
               .value = ASSAY_REAL(sinh),
               .shape = Shape::rising,
               .overflows = true},
    Definition{.function = Operation::cosh,
               .value = ASSAY_REAL(cosh),
               .shape = Shape::even,
               .lowest = 1,
               .overflows = true},
    Definition{.function = Operation::tanh,
               .value = assay::tanh,
               .shape = Shape::rising,
               .lowest = -1,
               .highest = 1},
    Definition{.function = Operation::asinh, .value = ASSAY_REAL(asinh), .shape = Shape::rising},
    Definition{.function = Operation::acosh,
               .value = ASSAY_REAL(acosh),
               .shape = Shape::rising,
               .first = 1,
               .lowest = 0},
    Definition{.function = Operation::atanh,
               .value = ASSAY_REAL(atanh),
               .shape = Shape::rising,
               .first = -1,
               .last = 1},
    Definition{.function = Operation::erf,
               .value = ASSAY_REAL(erf),
               .shape = Shape::rising,
               .lowest = -1,
               .highest = 1},
    Definition{.function = Operation::sigmoid,
               .value = assay::sigmoid,
               .shape = Shape::rising,
               .lowest = 0,
               .highest = 1},
    Definition{.function = Operation::softplus,
               .value = assay::softplus,
               .shape = Shape::rising,
               .lowest = 0},
};

#undef ASSAY_REAL

constexpr Definition kUnknown{
    .function = Operation::add, .value = [](double) { return kNaN; }, .shape = Shape::unknown};

constexpr auto kByFunction = [] {
  std::array<Definition, kOperationCount> table;
  table.fill(kUnknown);
  for (const Definition& one : kDefinitions) table[static_cast<std::size_t>(one.function)] = one;
  return table;
}();

const Definition& definition(Operation function) {
  return kByFunction[static_cast<std::size_t>(function)];
}

// Results that are exact: limits at infinity that are whole numbers (exp 0, tanh 1), poles, and
// zeros that did not come from underflow (below −700 there is no other zero).
bool is_exact(const Definition& f, double x, double y) {
  if (std::isinf(x)) return y == std::trunc(y);
  return std::isinf(y) ? !f.overflows : y == 0 && x > -700;
}

double low_end(const Definition& f, double x, double y) {
  return std::max(f.lowest, is_exact(f, x, y) ? y : below(y));
}

double high_end(const Definition& f, double x, double y) {
  return std::min(f.highest, is_exact(f, x, y) ? y : above(y));
}

// −0 is 0 here.
double end_below(const Definition& f, double x) { return low_end(f, x, f.value(x + 0.0)); }
double end_above(const Definition& f, double x) { return high_end(f, x, f.value(x + 0.0)); }

Interval absolute(const Interval& x) {
  const double near = x.low > 0 ? x.low : x.high < 0 ? -x.high : 0;
  return {near, std::max(-x.low, x.high), x.nan};
}

// The angle of x in [−π, π], also for x of many turns: the library reduces it exactly.
double reduced(double x) { return std::atan2(std::sin(x), std::cos(x)); }

// Whether some target + 2πk lies in the finite interval x, narrower than 2π. An angle that is
// only just missed does no harm when it counts.
bool sweeps(const Interval& x, double target) {
  constexpr double kSlack = 0x1p-44;
  const double start = reduced(x.low);
  const double end = start + (x.high - x.low);
  for (int turn = -1; turn <= 2; ++turn) {
    const double angle = target + 2 * kPi * turn;
    if (start - kSlack <= angle && angle <= end + kSlack) return true;
  }
  return false;
}

Interval wave(const Definition& f, const Interval& x, double top) {
  if (!(x.high - x.low < 2 * kPi)) return {-1, 1, x.nan};
  const double low = std::min(end_below(f, x.low), end_below(f, x.high));
  const double high = std::max(end_above(f, x.low), end_above(f, x.high));
  return {sweeps(x, top - kPi) ? -1 : low, sweeps(x, top) ? 1 : high, x.nan};
}

Interval tangent(const Definition& f, const Interval& x) {
  const bool pole = !(x.high - x.low < kPi) || sweeps(x, kPi / 2) || sweeps(x, -kPi / 2);
  if (pole) return {-kInfinity, kInfinity, x.nan};
  return {end_below(f, x.low), end_above(f, x.high), x.nan};
}

// Infinite angles give NaN; what is left of x.
Interval finite_part(const Interval& x) {
  Interval part = meet(x, {-kLargestDouble, kLargestDouble, true});
  part.nan = x.nan || x.low == -kInfinity || x.high == kInfinity;
  return part;
}

// The part of x where the function is defined; the rest gives NaN.
Interval defined_part(const Definition& f, const Interval& x) {
  const bool periodic =
      f.shape == Shape::sine || f.shape == Shape::cosine || f.shape == Shape::tangent;
  if (periodic) return finite_part(x);
  Interval part = meet(x, {f.first, f.last, true});
  part.nan = x.nan || x.low < f.first || x.high > f.last;
  return part;
}

}  // namespace

double below(double y) {
  if (y == kInfinity) return kLargestDouble;
  if (std::isinf(y) || (y == 0 && !std::signbit(y))) return y;
  const double low = y - std::max(std::fabs(y) * 0x1p-49, 4 * kSmallestDouble);
  return y > 0 ? std::max(low, 0.0) : low;
}

double above(double y) { return -below(-y); }

double value_of(Operation function, double x) { return definition(function).value(x); }

std::optional<Interval> image_of_point(Operation function, double x, double y) {
  const Definition& f = definition(function);
  const bool monotonic = f.shape == Shape::rising || f.shape == Shape::falling;
  if (!monotonic || x == 0 || !(x >= f.first && x <= f.last)) return std::nullopt;
  return Interval{low_end(f, x, y), high_end(f, x, y), false};
}

Interval range_of(Operation function) {
  const Definition& f = definition(function);
  return {f.lowest, f.highest, true};
}

Interval image(Operation function, const Interval& operand) {
  if (!operand.has_number()) return operand;
  const Definition& f = definition(function);
  const Interval x = defined_part(f, operand);
  if (!x.has_number()) return x;
  switch (f.shape) {
    case Shape::rising:
      return {end_below(f, x.low), end_above(f, x.high), x.nan};
    case Shape::falling:
      return {end_below(f, x.high), end_above(f, x.low), x.nan};
    case Shape::even: {
      const Interval size = absolute(x);
      return {end_below(f, size.low), end_above(f, size.high), x.nan};
    }
    case Shape::sine:
      return wave(f, x, kPi / 2);
    case Shape::cosine:
      return wave(f, x, 0);
    case Shape::tangent:
      return tangent(f, x);
    case Shape::unknown:
      break;
  }
  return Interval::everything();
}

}  // namespace assay::enclosure

#include "scalar/margins.h"

#include <algorithm>
#include <cmath>

#include "base/isa.h"
#include "scalar/outward.h"
#include "scalar/vocabulary.h"

namespace assay {
namespace {

// What Rounding::error gives for a magnitude m is at most relative * m + absolute.
struct Scale {
  double relative, absolute, largest;

  Scale(const Rounding& format, Operation function)
      : relative(format.error(function, 0x1p60) * 0x1p-60),
        absolute(format.error(function, 0)),
        largest(format.largest) {}

  // As settle does it, where nothing is flushed.
  double settled(double size, double propagated) const {
    const double own = relative * (size + propagated) + absolute;
    const double error = kUp * (propagated + own);
    return size + error <= largest ? error : kInfinity;
  }
};

// The error of each element by `margin`; of one that is not `plain` by `whole`, which gives a
// Bounded.
template <class Plain, class Margin, class Whole>
void find_errors(std::int64_t count, double* errors, const Plain& plain, const Margin& margin,
                 const Whole& whole) {
  constexpr double kOpen = -1;
  const bool flushes = rounding().flushes_subnormals;
  const bool all_found = !flushes && with_widest_vectors([=] {
    int found = 1;
    for (std::int64_t i = 0; i < count; ++i) {
      const bool good = plain(i);
      found &= static_cast<int>(good);
      errors[i] = good ? margin(i) : kOpen;
    }
    return found != 0;
  });
  for (std::int64_t i = 0; i < count && !all_found; ++i)
    if (flushes || errors[i] == kOpen) errors[i] = whole(i).error;
}

// Without a branch, which a loop over vectors has no place for.
bool both_hold(bool a, bool b) { return (static_cast<int>(a) & static_cast<int>(b)) != 0; }

bool is_finite(double x) { return std::fabs(x) <= kLargestDouble; }

// Of a sum or product of float32 that double holds without rounding where `exact` says so.
template <class Exact, class Whole>
void arithmetic_margins(Operation function, const Operands& of, double* errors, const Exact& exact,
                        const Whole& whole) {
  const Rounding& format = rounding();
  const bool single = format.unit == Rounding::f32().unit && format.rounds_correctly(function) &&
                      format.largest == Rounding::f32().largest;
  if (!single) {
    for (std::int64_t i = 0; i < of.count; ++i) errors[i] = whole(i).error;
    return;
  }
  const Scale scale(format, function);
  find_errors(
      of.count, errors,
      [=](std::int64_t i) { return both_hold(is_finite(of.a[i]), is_finite(of.b[i])); },
      [=](std::int64_t i) {
        const double value = of.values[i];
        const double nearest = static_cast<double>(static_cast<float>(value));
        const double error = scale.settled(std::fabs(value), 0);
        return both_hold(nearest == value, exact(i)) ? 0 : error;
      },
      whole);
}

}  // namespace

void sum_margins(const Operands& of, double* errors) {
  arithmetic_margins(
      Operation::add, of, errors,
      [=](std::int64_t i) { return sum_residual(of.a[i], of.b[i], of.values[i]) == 0; },
      [&](std::int64_t i) {
        return Bounded{of.a[i], 0} + Bounded{of.b[i], 0};
      });
}

void difference_margins(const Operands& of, double* errors) {
  arithmetic_margins(
      Operation::add, of, errors,
      [=](std::int64_t i) { return sum_residual(of.a[i], -of.b[i], of.values[i]) == 0; },
      [&](std::int64_t i) {
        return Bounded{of.a[i], 0} - Bounded{of.b[i], 0};
      });
}

void product_margins(const Operands& of, double* errors) {
  arithmetic_margins(
      Operation::multiply, of, errors, [](std::int64_t) { return true; },
      [&](std::int64_t i) {
        return Bounded{of.a[i], 0} * Bounded{of.b[i], 0};
      });
}

// The image of x is what enclosure::below and above make of the value, inside of [0, 1].
void sigmoid_margins(const Operands& of, double* errors) {
  const Scale scale(rounding(), Operation::sigmoid);
  find_errors(
      of.count, errors,
      [=](std::int64_t i) { return both_hold(std::fabs(of.a[i]) < 700, of.a[i] != 0); },
      [=](std::int64_t i) {
        const double value = of.values[i];
        const double off = std::max(value * 0x1p-49, 4 * kSmallestDouble);
        const double low = std::max(value - off, 0.0), high = std::min(value + off, 1.0);
        return scale.settled(value, kUp * std::max(high - value, value - low));
      },
      [&](std::int64_t i) {
        return sigmoid(Bounded{of.a[i], 0});
      });
}

}  // namespace assay

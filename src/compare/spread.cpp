#include "compare/spread.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace assay {
namespace {

constexpr int kRuns = 5;
// A few draws do not show the extremes; three times their reach does, by far.
constexpr double kSafety = 3;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool has_reals(const Value& value) {
  return value.is_tensor() && value.type() != ElementType::string &&
         domain_of(value.type()) != Domain::complex;
}

// A tensor drawn from what a bounded value may be; exact and unbounded elements stay.
Tensor draw_from(const Value& bounded, std::mt19937_64& random) {
  std::vector<double> elements = bounded.tensor().reals();
  std::uniform_real_distribution<double> unit(-1, 1);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const double error = (*bounded.errors())[i];
    if (std::isfinite(error) && std::isfinite(elements[i])) elements[i] += error * unit(random);
  }
  return make_tensor(bounded.type(), bounded.shape(), elements);
}

void widen(const Tensor& drawn, Spread& spread) {
  const std::vector<double> center = spread.value.tensor().reals(), other = drawn.reals();
  for (std::size_t i = 0; i < center.size(); ++i) {
    if (center[i] == other[i] || (std::isnan(center[i]) && std::isnan(other[i]))) continue;
    const double distance = std::abs(center[i] - other[i]);
    // A decision that rounding can turn (an index, a class) can become anything.
    const bool decision = !is_real(spread.value.type());
    const double reach = decision || std::isnan(distance) ? kInfinity : kSafety * distance;
    spread.allowance[i] = std::max(spread.allowance[i], reach);
  }
}

void find_tolerances(Spread& spread) {
  const std::vector<double> values = spread.value.tensor().reals();
  double largest = 0;
  for (const double value : values) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(spread.allowance[i])) continue;
    spread.absolute = std::max(spread.absolute, spread.allowance[i]);
    // Of elements near zero a relative tolerance says nothing.
    if (std::abs(values[i]) < 1e-3 * largest) continue;
    spread.relative = std::max(spread.relative, spread.allowance[i] / std::abs(values[i]));
  }
}

}  // namespace

double Spread::excess(const Value& found, std::size_t* where) const {
  if (!has_reals(value)) {
    return found.is_tensor() && value.is_tensor() && identical(found.tensor(), value.tensor())
               ? 0
               : (value.is_tensor() ? kInfinity : 0);
  }
  if (!found.is_tensor() || found.type() != value.type() || found.shape() != value.shape()) {
    return kInfinity;
  }
  const std::vector<double> center = value.tensor().reals(), other = found.tensor().reals();
  double worst = 0;
  for (std::size_t i = 0; i < center.size(); ++i) {
    if (center[i] == other[i] || (std::isnan(center[i]) && std::isnan(other[i]))) continue;
    if (allowance[i] == kInfinity) continue;
    const double distance = std::abs(center[i] - other[i]);
    const double ratio =
        std::isnan(distance) || allowance[i] == 0 ? kInfinity : distance / allowance[i];
    if (ratio <= worst) continue;
    worst = ratio;
    if (where) *where = i;
  }
  return worst;
}

Result<std::vector<Spread>> rounding_spread(const Evaluator& evaluator,
                                            const std::vector<Value>& inputs, std::uint64_t seed,
                                            const std::function<void(const Evaluated&)>& observe) {
  EvaluateOptions options;
  options.seed = seed;
  options.observe = observe;
  Result<std::vector<Value>> exact = evaluator.run(inputs, options);
  if (!exact) return exact.error();
  std::vector<Spread> spreads;
  for (Value& value : *exact) {
    Spread spread;
    if (has_reals(value)) {
      spread.allowance.assign(static_cast<std::size_t>(value.tensor().size()), 0);
    }
    spread.value = std::move(value);
    spreads.push_back(std::move(spread));
  }
  std::mt19937_64 random(seed);
  options.observe = nullptr;
  options.reading = Reading::bounded;
  options.replace = [&](const Evaluated&, std::span<Value> outputs) {
    for (Value& output : outputs) {
      if (output.is_tensor() && output.errors()) output = draw_from(output, random);
    }
  };
  for (int run = 0; run < kRuns; ++run) {
    const Result<std::vector<Value>> drawn = evaluator.run(inputs, options);
    if (!drawn) return drawn.error();
    for (std::size_t i = 0; i < spreads.size(); ++i) {
      const bool same = has_reals(spreads[i].value) && (*drawn)[i].is_tensor() &&
                        (*drawn)[i].shape() == spreads[i].value.shape();
      if (same) widen((*drawn)[i].tensor(), spreads[i]);
    }
  }
  for (Spread& spread : spreads) {
    if (has_reals(spread.value)) find_tolerances(spread);
  }
  return spreads;
}

}  // namespace assay

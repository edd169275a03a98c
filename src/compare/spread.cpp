#include "compare/spread.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <string>

#include "compare/agreement.h"
#include "compare/drawn.h"

namespace assay {
namespace {

constexpr int kRuns = 5;
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

// A framework has tensors where the standard has optional ones.
Value plain(Value value) {
  const bool wrapped = value.kind() == Value::Kind::optional && value.elements().size() == 1;
  return wrapped ? Value(value.elements().front()) : value;
}

// The values that chance has a part in, by name.
class Chance {
 public:
  void follow(const Evaluated& evaluated) {
    const Node& node = evaluated.node.node;
    const bool touched =
        std::any_of(node.inputs.begin(), node.inputs.end(),
                    [&](const std::string& name) { return names_.contains(name); }) ||
        (!names_.empty() && !evaluated.node.subgraphs.empty());
    if (!touched && !is_drawn(evaluated.node, evaluated.inputs)) return;
    names_.insert(node.outputs.begin(), node.outputs.end());
    names_.erase("");
  }
  bool has(const std::string& name) const { return names_.contains(name); }

 private:
  std::set<std::string> names_;
};

void widen(const Tensor& drawn, Spread& spread) {
  const std::vector<double> center = spread.value.tensor().reals(), other = drawn.reals();
  for (std::size_t i = 0; i < center.size(); ++i) {
    if (center[i] == other[i] || (std::isnan(center[i]) && std::isnan(other[i]))) continue;
    const double distance = std::abs(center[i] - other[i]);
    // A decision that rounding can turn (an index, a class) can become anything.
    const bool decision = !is_real(spread.value.type());
    const double reach = decision || std::isnan(distance) ? kInfinity : kSpreadSafety * distance;
    spread.allowance[i] = std::max(spread.allowance[i], reach);
  }
}

// Anything may be right: chance decides, or rounding even the shape.
void leave_open(Spread& spread) {
  spread.open = true;
  spread.allowance.assign(spread.allowance.size(), kInfinity);
}

// An output may at least be off by what its own node allows: a draw that is rounded to the format
// rarely shows the neighbor that is nearly as good.
void allow_last_rounding(const Graph& graph, const std::string& name, const Value& bounded,
                         std::vector<Spread>& spreads) {
  for (std::size_t i = 0; i < spreads.size(); ++i) {
    Spread& spread = spreads[i];
    const bool own = graph.outputs[i].name == name && is_real(bounded.type()) &&
                     spread.allowance.size() == bounded.errors()->size();
    for (std::size_t k = 0; own && k < spread.allowance.size(); ++k) {
      spread.allowance[k] = std::max(spread.allowance[k], (*bounded.errors())[k]);
    }
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
  if (!has_reals(value)) return open || agrees(value, found, {}).agrees ? 0 : kInfinity;
  if (!found.is_tensor() || found.type() != value.type()) return kInfinity;
  if (found.shape() != value.shape()) return open ? 0 : kInfinity;
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
                                            const SpreadObserver& observer) {
  EvaluateOptions options;
  options.seed = seed;
  options.observe = observer.exact;
  Result<std::vector<Value>> exact = evaluator.run(inputs, options);
  if (!exact) return exact.error();
  std::vector<Spread> spreads;
  for (Value& given : *exact) {
    Spread spread;
    Value value = plain(std::move(given));
    if (has_reals(value)) {
      spread.allowance.assign(static_cast<std::size_t>(value.tensor().size()), 0);
    }
    spread.value = std::move(value);
    spreads.push_back(std::move(spread));
  }
  std::mt19937_64 random(seed);
  options.reading = Reading::bounded;
  options.observe = nullptr;
  Chance chance;
  options.replace = [&](const Evaluated& evaluated, std::span<Value> outputs) {
    chance.follow(evaluated);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].is_tensor() || !outputs[i].errors()) continue;
      allow_last_rounding(evaluator.model().graph, evaluated.name(i), outputs[i], spreads);
      outputs[i] = draw_from(outputs[i], random);
    }
    if (observer.drawn) observer.drawn(evaluated, outputs);
  };
  for (int run = 0; run < kRuns; ++run) {
    const Result<std::vector<Value>> drawn = evaluator.run(inputs, options);
    if (!drawn) return drawn.error();
    for (std::size_t i = 0; i < spreads.size(); ++i) {
      const Value other = plain((*drawn)[i]);
      if (!has_reals(spreads[i].value)) {
        spreads[i].open = spreads[i].open || !agrees(spreads[i].value, other, {}).agrees;
      } else if (other.is_tensor() && other.shape() == spreads[i].value.shape()) {
        widen(other.tensor(), spreads[i]);
      } else {
        leave_open(spreads[i]);
      }
    }
  }
  for (std::size_t i = 0; i < spreads.size(); ++i) {
    if (chance.has(evaluator.model().graph.outputs[i].name)) leave_open(spreads[i]);
    if (has_reals(spreads[i].value)) find_tolerances(spreads[i]);
  }
  return spreads;
}

}  // namespace assay

#include "reproduce/expectation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compare/judge.h"
#include "compare/spread.h"
#include "semantics/evaluator.h"

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

std::vector<Value> values_of(const BackendTest& test) {
  std::vector<Value> values(test.model.graph.inputs.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (const NamedValue& input : test.inputs) {
      if (input.name == test.model.graph.inputs[i].name) values[i] = input.value;
    }
  }
  return values;
}

// The worst element of numbers: the largest difference by its allowance, then by itself.
bool find_worst(const Allowance& allowed, Expectation& worst) {
  const std::vector<double> right = worst.right.reals(), found = worst.found.reals();
  double most = 1, widest = -1;
  for (std::size_t i = 0; i < right.size(); ++i) {
    const double error = allowed.errors.empty() ? 0 : allowed.errors[i];
    if (same(right[i], found[i]) || error == kInfinity) continue;
    double difference = std::abs(right[i] - found[i]);
    if (std::isnan(difference)) difference = kInfinity;
    const double excess = error == 0 ? kInfinity : difference / error;
    if (excess <= 1) continue;
    ++worst.outside;
    if (difference > worst.largest) worst.largest = difference;
    if (excess < most || (excess == most && difference <= widest)) continue;
    most = excess;
    widest = difference;
    worst.element = static_cast<std::int64_t>(i);
    worst.tolerance = error;
  }
  return worst.outside > 0;
}

// The first element of texts and complex numbers that is another one.
bool find_different(Expectation& worst) {
  if (identical(worst.right, worst.found)) return false;
  const auto differs = [&](std::size_t i) {
    return visit_storage(worst.right.type(), [&]<class T>(T*) {
      return !(worst.right.data<T>()[i] == worst.found.data<T>()[i]);
    });
  };
  for (std::int64_t i = worst.right.size() - 1; i >= 0; --i) {
    if (!differs(static_cast<std::size_t>(i))) continue;
    worst.element = i;
    ++worst.outside;
  }
  return worst.outside > 0;
}

}  // namespace

Result<std::vector<Allowance>> allowances(const BackendTest& test, const std::string& backend,
                                          std::uint64_t seed) {
  Result<std::unique_ptr<Evaluator>> evaluator =
      Evaluator::make(std::make_shared<const Model>(test.model));
  if (!evaluator) return evaluator.error();
  std::vector<Allowance> allowed;
  if (test.model.graph.nodes.size() > 1) {
    Result<std::vector<Spread>> spreads = rounding_spread(**evaluator, values_of(test), seed);
    if (!spreads) return spreads.error();
    for (Spread& spread : *spreads) {
      // Where chance or rounding decides, nothing is to be expected.
      allowed.push_back(
          {spread.open ? Value::unknown() : spread.value, std::move(spread.allowance)});
    }
    return allowed;
  }
  const ArithmeticScope scope(profile_of(backend));
  EvaluateOptions options;
  options.reading = Reading::bounded;
  options.seed = seed;
  Result<std::vector<Value>> outputs = (*evaluator)->run(values_of(test), options);
  if (!outputs) return outputs.error();
  for (const Value& output : *outputs) {
    const Buffer<double>* errors = output.is_tensor() ? output.errors() : nullptr;
    allowed.push_back({output, {}});
    if (errors) allowed.back().errors.assign(errors->begin(), errors->end());
  }
  return allowed;
}

std::optional<Expectation> contradiction(const Graph& graph,
                                         const std::vector<Allowance>& allowances,
                                         const Answer& answer) {
  for (std::size_t i = 0; i < graph.outputs.size() && i < allowances.size(); ++i) {
    const Value* found = answer.find(graph.outputs[i].name);
    const Value& right = allowances[i].value;
    if (!found || !found->is_tensor() || !right.is_tensor()) continue;
    Expectation told;
    told.output = i;
    told.right = right.tensor();
    told.found = found->tensor();
    told.kind = Expectation::Kind::type;
    if (right.type() != found->type()) return told;
    told.kind = Expectation::Kind::shape;
    if (right.shape() != found->shape()) return told;
    told.kind = Expectation::Kind::element;
    if (has_numbers(right.type()) ? find_worst(allowances[i], told) : find_different(told))
      return told;
  }
  return std::nullopt;
}

}  // namespace assay

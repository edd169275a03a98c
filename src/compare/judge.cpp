#include "compare/judge.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// How far the difference is from the bound: 0 equal, at most 1 inside.
double excess_of(double expected, double error, double found) {
  if (expected == found || (std::isnan(expected) && std::isnan(found)) || error == kInfinity)
    return 0;
  const double difference = std::abs(expected - found);
  return std::isnan(difference) || error == 0 ? kInfinity : difference / error;
}

Judgement judge_output(const Value& bounded, const Tensor& found) {
  Judgement result;
  if (bounded.type() != found.type() || bounded.shape() != found.shape()) {
    result.excess = kInfinity;
    result.detail =
        fmt::format("expected {}{}, found {}{}", short_name(bounded.type()),
                    to_text(bounded.shape()), short_name(found.type()), to_text(found.shape()));
    return result;
  }
  if (bounded.type() == ElementType::string || domain_of(bounded.type()) == Domain::complex) {
    result.inside = identical(bounded.tensor(), found);
    return result;
  }
  const std::vector<double> expected = bounded.tensor().reals(), elements = found.reals();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double error = bounded.errors() ? (*bounded.errors())[i] : 0;
    const double excess = excess_of(expected[i], error, elements[i]);
    const double difference = std::abs(expected[i] - elements[i]);
    if (difference > result.difference) result.difference = difference;
    if (excess <= result.excess) continue;
    result.excess = excess;
    result.detail = fmt::format("element {}: {:.9g} ± {:.3g}, found {:.9g}", i, expected[i], error,
                                elements[i]);
  }
  result.inside = result.excess <= 1;
  return result;
}

// Whether two bounded values lie apart somewhere, by more than both bounds.
bool lie_apart(const Value& a, const Value& b) {
  if (a.type() != b.type() || a.shape() != b.shape()) return true;
  const std::vector<double> first = a.tensor().reals(), second = b.tensor().reals();
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double room = (a.errors() ? (*a.errors())[i] : 0) + (b.errors() ? (*b.errors())[i] : 0);
    if (excess_of(first[i], room, second[i]) > 1) return true;
  }
  return false;
}

const Variant* explain(const Evaluated& evaluated, std::size_t output, const Tensor& found) {
  const PlannedNode& planned = evaluated.node;
  const ElementType type = evaluated.outputs[output].type();
  const bool numbers = type != ElementType::string && domain_of(type) != Domain::complex;
  if (!planned.found.entry || planned.function || !numbers) return nullptr;
  for (const Variant& variant : planned.found.entry->variants) {
    const Result<std::vector<Value>> other =
        evaluate_node(planned.node, planned.found.schema->since_version, evaluated.inputs,
                      Reading::bounded, variant.rewrite);
    if (!other || output >= other->size() || !(*other)[output].is_tensor()) continue;
    if (judge_output((*other)[output], found).inside &&
        lie_apart(evaluated.outputs[output], (*other)[output])) {
      return &variant;
    }
  }
  return nullptr;
}

}  // namespace

Result<std::vector<Judgement>> judge(const Evaluator& evaluator, const std::vector<Value>& inputs,
                                     const std::map<std::string, Tensor>& recorded,
                                     std::uint64_t seed, const std::vector<bool>* only) {
  std::vector<Judgement> judgements;
  EvaluateOptions options;
  options.reading = Reading::bounded;
  options.seed = seed;
  options.recorded = &recorded;
  options.impose = true;
  options.only = only;
  options.observe = [&](const Evaluated& evaluated) {
    for (std::size_t i = 0; i < evaluated.outputs.size(); ++i) {
      if (evaluated.unknown || !evaluated.outputs[i].is_tensor()) continue;
      const std::string name = evaluated.name(i);
      const auto found = recorded.find(name);
      if (found == recorded.end()) continue;
      Judgement judgement = judge_output(evaluated.outputs[i], found->second);
      judgement.layer = evaluated.layer();
      judgement.op = evaluated.node.node.op;
      judgement.output = name;
      if (!judgement.inside) {
        judgement.variant = explain(evaluated, i, found->second);
        judgement.node = evaluated.node.node;
        judgement.inputs.assign(evaluated.inputs.begin(), evaluated.inputs.end());
      }
      judgements.push_back(std::move(judgement));
    }
  };
  const Result<std::vector<Value>> outputs = evaluator.run(inputs, options);
  if (!outputs) return outputs.error();
  return judgements;
}

}  // namespace assay

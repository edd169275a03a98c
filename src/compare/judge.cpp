#include "compare/judge.h"

#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "compare/explain.h"
#include "compare/fused.h"

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

// Below this a backend makes zeros, also of what it only copies; 0 if it does not.
double smallest_kept(ElementType type) {
  const Arithmetic* profile = current_arithmetic();
  return profile && profile->flushes_subnormals && type == ElementType::f32 ? 0x1p-126 : 0;
}

// What is outside its own bound, but inside the one of a chain that was computed as one, is
// rounding.
void allow_fusion(const FusedChains& chains, const Evaluated& evaluated, std::size_t output,
                  const Tensor& found, Judgement& judgement) {
  const std::optional<Value> bounded = chains.result(evaluated, output);
  if (!bounded || !bounded->is_tensor()) return;
  Judgement fused = judge_output(*bounded, found);
  if (fused.inside) judgement = std::move(fused);
}

}  // namespace

VerdictCounts count_verdicts(const std::vector<Judgement>& judgements) {
  VerdictCounts counts;
  for (const Judgement& one : judgements) ++counts[one.verdict];
  return counts;
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
  if (!has_numbers(bounded.type())) {
    result.inside = identical(bounded.tensor(), found);
    return result;
  }
  const std::vector<double> expected = bounded.tensor().reals(), elements = found.reals();
  const double normal = smallest_kept(bounded.type());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double error = bounded.errors() ? (*bounded.errors())[i] : 0;
    if (elements[i] == 0 && std::abs(expected[i]) < normal) continue;
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

Result<std::vector<Judgement>> judge(const Evaluator& evaluator, const std::vector<Value>& inputs,
                                     const std::map<std::string, Tensor>& recorded,
                                     std::uint64_t seed, const Arithmetic* profile,
                                     const std::vector<bool>* only) {
  std::vector<Judgement> judgements;
  FusedChains chains;
  const ArithmeticScope scope(profile);
  EvaluateOptions options;
  options.reading = Reading::bounded;
  options.seed = seed;
  options.recorded = &recorded;
  options.impose = true;
  options.only = only;
  options.observe = [&](const Evaluated& evaluated) {
    const Basis basis = take_basis();
    for (std::size_t i = 0; i < evaluated.outputs.size(); ++i) {
      const std::string name = evaluated.name(i);
      const auto found = recorded.find(name);
      if (found == recorded.end()) continue;
      std::optional<Judgement> judgement = judge_one(evaluated, i, found->second, basis);
      if (!judgement) continue;
      if (!judgement->inside) allow_fusion(chains, evaluated, i, found->second, *judgement);
      judgement->layer = evaluated.layer();
      judgement->op = evaluated.node.node.op;
      judgement->output = name;
      if (!judgement->inside) {
        judgement->node = evaluated.node.node;
        judgement->inputs.assign(evaluated.inputs.begin(), evaluated.inputs.end());
      }
      judgements.push_back(*std::move(judgement));
    }
    chains.observe(evaluated);
    take_basis();
  };
  const Result<std::vector<Value>> outputs = evaluator.run(inputs, options);
  if (!outputs) return outputs.error();
  return judgements;
}

}  // namespace assay

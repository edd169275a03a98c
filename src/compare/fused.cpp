#include "compare/fused.h"

#include <algorithm>
#include <cmath>

#include "ops/operator.h"
#include "patterns/array.h"
#include "patterns/call.h"

namespace assay {
namespace {

constexpr int kLongest = 4;  // nodes before the one in question: x * clip(x + 3) / 6

bool is_a(Pattern pattern, const Evaluated& evaluated) {
  const PlannedNode& node = evaluated.node;
  return evaluated.path.empty() && !evaluated.unknown && node.found.entry && !node.function &&
         node.found.entry->meaning.pattern == pattern;
}

bool on_elements(const Evaluated& evaluated) { return is_a(Pattern::elementwise, evaluated); }

// What may have been before it was rounded to what is shown.
Value unrounded(const Value& shown) {
  if (!shown.is_tensor() || !is_real(shown.type())) return shown;
  const double unit = rounding_of(shown.type()).unit;
  std::vector<double> errors = shown.tensor().reals();
  for (double& one : errors) one = std::isfinite(one) ? std::abs(one) * unit : 0;
  return Value::bounded(shown.tensor(), errors);
}

EvaluateOptions bounded() {
  EvaluateOptions options;
  options.reading = Reading::bounded;
  return options;
}

}  // namespace

void FusedChains::observe(const Evaluated& evaluated, bool plain) {
  if (!evaluated.path.empty()) return;
  // A normalisation written by hand becomes one operation, with a mean of its own.
  const bool chained = on_elements(evaluated) || is_a(Pattern::reduce, evaluated);
  for (std::size_t i = 0; i < evaluated.outputs.size(); ++i) {
    const Value& output = evaluated.outputs[i];
    const Link link{&evaluated.node, {evaluated.inputs.begin(), evaluated.inputs.end()}, i};
    if (output.is_tensor() && output.errors()) computed_.insert(evaluated.name(i));
    if (output.is_tensor() && plain) open_.insert_or_assign(evaluated.name(i), link);
    if (chained) links_.insert_or_assign(evaluated.name(i), link);
  }
}

bool FusedChains::is_computed(const std::string& name) const {
  if (computed_.contains(name)) return true;
  const auto open = open_.find(name);
  if (open == open_.end()) return false;
  const auto& [node, inputs, output] = open->second;
  return evaluate_planned(*node, inputs, bounded())[output].errors() != nullptr;
}

std::optional<Value> FusedChains::result(const Evaluated& evaluated, std::size_t output) const {
  if (!on_elements(evaluated)) return std::nullopt;
  const std::vector<std::string>& names = evaluated.node.node.inputs;
  try {
    const bool chained = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return links_.contains(name) || is_computed(name);
    });
    if (!chained) return std::nullopt;
    return evaluate_planned(evaluated.node,
                            carried_inputs(evaluated.node, evaluated.inputs, kLongest),
                            bounded())[output];
  } catch (const EvaluationError&) {  // an input that has to be exact is not
    return std::nullopt;
  }
}

Value FusedChains::carried(const std::string& name, const Value& shown, int depth) const {
  const auto link = links_.find(name);
  if (depth == 0 || link == links_.end()) {
    return is_computed(name) ? unrounded(shown) : shown;
  }
  const auto& [node, inputs, output] = link->second;
  return evaluate_planned(*node, carried_inputs(*node, inputs, depth - 1), bounded())[output];
}

std::vector<Value> FusedChains::carried_inputs(const PlannedNode& node,
                                               std::span<const Value> inputs, int depth) const {
  std::vector<Value> values;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    values.push_back(carried(node.node.inputs[i], inputs[i], depth));
  }
  return values;
}

}  // namespace assay

// A reduction of no elements: a mean is then NaN, a maximum minus infinity.
#include <algorithm>
#include <cmath>

#include "numeric/checks/node_checks.h"
#include "semantics/run.h"

namespace assay {
namespace {

bool is_empty(const Abstract& x) {
  const auto shape = x.is_tensor() && x.ranked() ? to_shape(*x.type.dims) : std::nullopt;
  return shape && element_count(*shape) == 0;
}

// What the node makes of no elements is no finite number, or it refuses them.
bool fails_on_nothing(const Analyzed& seen) {
  std::vector<Value> inputs;
  for (const Abstract& input : seen.inputs) {
    if (!input.is_tensor()) {
      inputs.emplace_back();
    } else if (input.exact.defined()) {
      inputs.emplace_back(input.exact);
    } else {
      Shape shape;
      for (const Dim& dim : *input.type.dims) shape.push_back(dim.known() ? dim.value : 0);
      if (element_count(shape) != 0) return false;
      inputs.emplace_back(Tensor(input.type.element, shape));
    }
  }
  EvaluateOptions options;
  RunMemory memory;
  try {
    for (const Value& value : Run(options, memory).run_single(seen.node, inputs)) {
      if (!value.is_tensor() || !is_real(value.type())) continue;
      const std::vector<double> elements = value.tensor().reals();
      if (!std::all_of(elements.begin(), elements.end(), [](double x) { return std::isfinite(x); }))
        return true;
    }
  } catch (const EvaluationError&) {
    return true;
  }
  return false;
}

}  // namespace

std::optional<Danger> judge_empty(const Analyzed& seen) {
  const Operator* entry = seen.node.found.entry;
  if (!entry || entry->meaning.pattern != Pattern::reduce || seen.inputs.empty() ||
      !seen.inputs[0].ranked())
    return std::nullopt;
  const bool certain = is_empty(seen.inputs[0]);
  if (!(certain ? seen.overflows : seen.inputs[0].may_be_empty && fails_on_nothing(seen)))
    return std::nullopt;
  return Danger{Interval::no_number(false), Interval::no_number(false),
                certain ? "no elements are reduced"
                        : "how many elements are reduced, data decide; there may be none",
                certain};
}

}  // namespace assay

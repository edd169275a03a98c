// Elementwise nodes on tensors of one cell, without looking at axes: most of a training graph.
#include <algorithm>

#include "numeric/transfer.h"
#include "ops/alignment.h"
#include "patterns/array.h"

namespace assay {
namespace {

bool is_point(const Abstract& x) {
  if (!x.ranked() || !has_numbers(x.type.element)) return false;
  if (x.exact.defined()) return x.exact.size() == 1;
  const auto holds_none = [](const Dim& dim) { return dim.value == 0; };
  return x.cells.size() == 1 && std::ranges::none_of(*x.type.dims, holds_none);
}

bool are_points(const Situation& s) {
  if (!s.present(0) || s.setting.tensors == TensorMode::expand || s.output_types.empty() ||
      !s.output_types[0].is_tensor())
    return false;
  std::int64_t given = 0;
  bool exact = true;  // then it is computed exactly, if at all
  for (const Abstract& input : s.inputs) {
    if (!input.is_tensor()) continue;
    if (!is_point(input)) return false;
    ++given;
    exact = exact && input.exact.defined();
  }
  const Site site(s.node.node, s.node.found.schema->since_version);
  return !exact && is_broadcast(*s.node.found.entry, site, given);
}

Value point_of(const Abstract& x) {
  if (!x.is_tensor()) return {};
  if (x.exact.defined()) return x.exact.reshaped(Shape{});
  return Value::ranges(x.type.element, Shape{}, {x.cells.front().range});
}

std::optional<std::vector<Value>> evaluate(Situation& s) {
  std::vector<Value> inputs;
  inputs.reserve(s.inputs.size());
  for (const Abstract& input : s.inputs) inputs.push_back(point_of(input));
  try {
    auto values = run_watched(s, inputs);
    if (values && values->size() == 1 && values->front().is_tensor()) return values;
  } catch (const EvaluationError&) {  // an operator that is particular about ranks
  }
  s.forget();
  return std::nullopt;
}

Interval range_of(const Value& point) {
  return point.intervals() ? point.intervals()->front() : load<Interval>(point).data.front();
}

Abstract result_of(const Situation& s, const Interval& range) {
  Abstract result;
  result.type = s.output_types[0];
  result.cells = {{range}};
  if (!result.ranked()) return result;
  std::size_t rank = 0;
  for (const Abstract& input : s.inputs) rank = std::max(rank, input.rank());
  result.cuts.resize(rank);
  return result;
}

}  // namespace

Outputs transfer_points(Situation& s) {
  if (!are_points(s)) return std::nullopt;
  std::string key = RangeMemory::key_of_points(s.node, s.inputs);
  std::vector<Abstract> outputs;
  if (const RangeMemory::Said* said = key.empty() ? nullptr : s.memory.find(key)) {
    s.applied = said->applied;
    s.left_type = said->left_type;
    outputs.push_back(result_of(s, range_of(said->outputs.front())));
  } else {
    auto values = evaluate(s);
    if (!values) return std::nullopt;
    outputs.push_back(result_of(s, range_of(values->front())));
    if (!key.empty()) s.memory.keep(std::move(key), {*std::move(values), s.applied, s.left_type});
  }
  s.elementwise = true;
  return outputs;
}

}  // namespace assay

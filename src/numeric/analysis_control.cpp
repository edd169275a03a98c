// Nodes with graphs inside: both branches of a conditional, and loops until nothing changes.
#include <algorithm>
#include <utility>

#include "numeric/analysis_scope.h"

namespace assay {
namespace {

constexpr int kRounds = 3;       // before ranges are widened
constexpr int kMostRounds = 40;  // each end of each cell moves a few times at most

// The next place that an end which moved down may rest at.
double widened_down(double low, double floor) { return low >= 0 ? 0 : low >= -1 ? -1 : floor; }
double widened_up(double high, double ceiling) { return high <= 0 ? 0 : high <= 1 ? 1 : ceiling; }

// What both were and, where an end still moves, far beyond.
Abstract widened(const Abstract& before, const Abstract& joined) {
  Abstract result = joined;
  if (!joined.is_tensor() || joined.exact.defined()) return result;
  const Interval limits = finite_range(joined.type.element);
  const bool same = before.cuts == joined.cuts && before.cells.size() == joined.cells.size();
  const Interval all = hull_of(before);
  for (std::size_t c = 0; c < result.cells.size(); ++c) {
    const Interval& old = same ? before.cells[c].range : all;
    Interval& range = result.cells[c].range;
    if (range.low < old.low) range.low = widened_down(range.low, limits.low);
    if (range.high > old.high) range.high = widened_up(range.high, limits.high);
    const bool far = range.low == limits.low || range.high == limits.high;
    result.assumed = result.assumed || far;
  }
  return result;
}

bool contains(const Abstract& whole, const Abstract& part) {
  if (!whole.is_tensor() || !part.is_tensor()) return whole.type.kind == part.type.kind;
  if (whole.exact.defined()) return part.exact.defined() && identical(whole.exact, part.exact);
  if (whole.ranked() != part.ranked() || whole.rank() != part.rank()) return !whole.ranked();
  for (std::size_t d = 0; d < whole.rank(); ++d) {
    const Dim &a = (*whole.type.dims)[d], &b = (*part.type.dims)[d];
    if (a.known() && !a.same_as(b)) return false;
  }
  const std::vector<Cell> cells = regrid(part, whole.cuts);
  if (cells.size() != whole.cells.size()) return cells.empty();
  for (std::size_t c = 0; c < cells.size(); ++c)
    if (!whole.cells[c].range.contains(cells[c].range)) return false;
  return true;
}

// Whether a single condition may hold, and may not.
std::pair<bool, bool> truth_of(const Abstract& condition) {
  const Interval range = hull_of(condition);
  return {range.high >= 1 || !range.has_number(), range.low <= 0 || !range.has_number()};
}

bool surely_has_elements(const ValueType& type) {
  return type.dims && std::all_of(type.dims->begin(), type.dims->end(),
                                  [](const Dim& dim) { return dim.value > 0; });
}

}  // namespace

std::vector<Abstract> Analysis::body(const PlannedNode& node, const PlannedSubgraph& graph,
                                     std::span<const Abstract> inputs, Scope& scope,
                                     bool reachable) {
  const Plan& plan = *graph.plan;
  Scope inner{plan, scope.path + node.path_into(graph), &scope, scope.known};
  inner.reachable = scope.reachable && reachable;
  inner.enter();
  for (std::size_t i = 0; i < plan.inputs.size() && i < inputs.size(); ++i) {
    Abstract input = inputs[i];
    give_forms(input);
    inner.put(plan.inputs[i], std::move(input));
  }
  run_in(plan, inner);
  return inner.outputs();
}

std::vector<Abstract> Analysis::control(Situation& s, Scope& scope, Analyzed& seen) {
  const Node& node = s.node.node;
  if (node.find("then_branch")) return branches(s, scope);
  const bool tensors = std::all_of(s.inputs.begin(), s.inputs.end(), [](const Abstract& input) {
    return input.is_tensor() || input.type.kind == ValueType::Kind::unknown;
  });
  if (!node.find("body") || !tensors) return unfollowed(s, scope, seen);
  if (const AttributeValue* count = node.find("num_scan_inputs"))
    return scan(s, scope, seen, *count);
  return s.inputs.size() >= 2 ? loop(s, scope, seen) : unfollowed(s, scope, seen);
}

std::vector<Abstract> Analysis::branches(Situation& s, Scope& scope) {
  const auto [may_hold, may_not] = truth_of(s.inputs[0]);
  std::vector<Abstract> outputs;
  for (const PlannedSubgraph& graph : s.node.subgraphs) {
    const bool possible = graph.attribute == "then_branch" ? may_hold : may_not;
    const std::vector<Abstract> results = body(s.node, graph, {}, scope, possible);
    if (!possible) continue;
    if (outputs.empty()) {
      outputs = results;
      continue;
    }
    for (std::size_t i = 0; i < outputs.size() && i < results.size(); ++i)
      outputs[i] = join(outputs[i], results[i], s.setting.tensors);
  }
  return outputs;
}

// What a round of a loop makes of a state: the first values or what the body gives.
std::vector<Abstract> Analysis::next_state(const Situation& s, Scope& scope,
                                           const std::vector<Abstract>& state,
                                           const Carried& carried) {
  const std::vector<Abstract> results =
      body(s.node, s.node.subgraphs.front(), state, scope, carried.enters);
  std::vector<Abstract> next = state;
  for (std::size_t k = 0; k < carried.count; ++k)
    next[carried.input + k] =
        join(s.inputs[carried.input + k], results[carried.result + k], s.setting.tensors);
  return next;
}

// The state that holds in every round: rounds until nothing changes, with ends that keep moving
// pushed far out, and then one step back from where that went too far. False if there is none.
bool Analysis::settle_loop(const Situation& s, Scope& scope, std::vector<Abstract>& state,
                           const Carried& carried) {
  const std::size_t first = carried.input, last = carried.input + carried.count;
  const auto settled = [&](const std::vector<Abstract>& next) {
    for (std::size_t k = first; k < last; ++k)
      if (!contains(state[k], next[k])) return false;
    return true;
  };
  std::vector<Abstract> next = next_state(s, scope, state, carried);
  for (int round = 1; !settled(next); ++round) {
    if (round == kMostRounds) return false;
    for (std::size_t k = first; k < last; ++k) {
      const Abstract joined = join(state[k], next[k], s.setting.tensors);
      state[k] = round < kRounds ? joined : widened(state[k], joined);
    }
    next = next_state(s, scope, state, carried);
  }
  const std::vector<Abstract> wide = std::exchange(state, next);
  if (!settled(next_state(s, scope, state, carried))) state = wide;
  return true;
}

// The outputs of a loop from a state of its body's inputs: the values that are carried, and then
// what the rounds collect.
std::vector<Abstract> Analysis::rounds(Situation& s, Scope& scope, Analyzed& seen,
                                       std::vector<Abstract> state, const Carried& carried) {
  const bool quiet = std::exchange(quiet_, true);
  const bool found = settle_loop(s, scope, state, carried);
  quiet_ = quiet;
  if (!found) return unfollowed(s, scope, seen);
  const std::vector<Abstract> results =
      body(s.node, s.node.subgraphs.front(), state, scope, carried.enters);
  std::vector<Abstract> outputs;
  for (std::size_t k = 0; k < carried.count; ++k) {
    const Abstract &before = s.inputs[carried.input + k], &after = results[carried.result + k];
    outputs.push_back(!carried.enters  ? before
                      : carried.always ? after
                                       : join(before, after, s.setting.tensors));
  }
  for (std::size_t k = outputs.size(); k < s.output_types.size(); ++k) {
    const ValueType& type = s.output_types[k];
    const Abstract& result = results[carried.result + k];
    const bool numbers = type.is_tensor() && result.is_tensor();
    outputs.push_back(numbers ? uniform(type, hull_of(result)) : anything(type));
  }
  return outputs;
}

// The inputs are a number of rounds, a condition and the values that are carried from one round to
// the next; the body's outputs are the condition, those values, and what is collected.
std::vector<Abstract> Analysis::loop(Situation& s, Scope& scope, Analyzed& seen) {
  const Interval count = s.present(0) ? hull_of(s.inputs[0]) : Interval{0, kMostCounted, false};
  const auto [may_hold, may_not] = s.present(1) ? truth_of(s.inputs[1]) : std::pair(true, false);
  Carried carried{.input = 2, .count = s.inputs.size() - 2, .result = 1};
  carried.enters = count.high >= 1 && may_hold;
  carried.always = count.low >= 1 && !may_not;
  std::vector<Abstract> state(s.inputs.begin(), s.inputs.end());
  state[0] = uniform(ValueType::tensor(ElementType::i64, Dims{}),
                     {0, std::max(count.high - 1, 0.0), false});
  state[1] = uniform(ValueType::tensor(ElementType::boolean, Dims{}), {0, 1, false});
  return rounds(s, scope, seen, std::move(state), carried);
}

// The inputs are the values that are carried and then what the rounds walk along; the body has a
// slice of each. The first version of the operator, which has a batch beside, is not followed.
std::vector<Abstract> Analysis::scan(Situation& s, Scope& scope, Analyzed& seen,
                                     const AttributeValue& count) {
  const PlannedSubgraph& graph = s.node.subgraphs.front();
  const auto* slices = std::get_if<std::int64_t>(&count);
  const std::size_t inputs = s.inputs.size();
  if (!slices || *slices < 1 || static_cast<std::size_t>(*slices) > inputs ||
      graph.plan->inputs.size() != inputs)
    return unfollowed(s, scope, seen);
  Carried carried{.input = 0, .count = inputs - static_cast<std::size_t>(*slices), .result = 0};
  std::vector<Abstract> state(s.inputs.begin(), s.inputs.end());
  const std::vector<ValueType> declared = body_types(s.node, graph, scope);
  for (std::size_t k = carried.count; k < inputs; ++k) {
    if (!declared[k].is_tensor()) return unfollowed(s, scope, seen);
    state[k] = uniform(declared[k], hull_of(s.inputs[k]));
    carried.always = carried.always || surely_has_elements(s.inputs[k].type);
  }
  return rounds(s, scope, seen, std::move(state), carried);
}

// The types of a body's inputs, as inferred.
std::vector<ValueType> Analysis::body_types(const PlannedNode& node, const PlannedSubgraph& graph,
                                            const Scope& scope) {
  std::vector<ValueType> types;
  for (int slot : graph.plan->inputs) {
    const std::string name = slot < 0 ? "" : graph.plan->names[static_cast<std::size_t>(slot)];
    const Known* known = scope.known->find(scope.path + node.path_into(graph) + name);
    types.push_back(known ? known->type : ValueType{});
  }
  return types;
}

// Bodies that nobody knows how to run are looked at with what they declare, so that their nodes are
// judged at all.
std::vector<Abstract> Analysis::unfollowed(Situation& s, Scope& scope, Analyzed& seen) {
  for (const PlannedSubgraph& graph : s.node.subgraphs) {
    std::vector<Abstract> inputs;
    for (const ValueType& type : body_types(s.node, graph, scope)) inputs.push_back(anything(type));
    body(s.node, graph, inputs, scope, true);
  }
  return unknown(s, seen, "what its graphs give is not followed");
}

}  // namespace assay

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

}  // namespace

std::vector<Abstract> Analysis::body(const PlannedNode& node, const PlannedSubgraph& graph,
                                     std::span<const Abstract> inputs, Scope& scope,
                                     bool reachable) {
  const Plan& plan = *graph.plan;
  Scope inner{plan, scope.path + node.path_into(graph), &scope, scope.known};
  inner.reachable = scope.reachable && reachable;
  inner.slots.resize(plan.names.size());
  for (const auto& [slot, tensor] : plan.constants)
    inner.slots[static_cast<std::size_t>(slot)] = constant_abstract(tensor);
  for (std::size_t i = 0; i < plan.inputs.size() && i < inputs.size(); ++i) {
    if (plan.inputs[i] < 0) continue;
    Abstract& slot = inner.slots[static_cast<std::size_t>(plan.inputs[i])];
    slot = inputs[i];
    give_forms(slot);
  }
  run_in(plan, inner);
  return inner.outputs;
}

std::vector<Abstract> Analysis::control(Situation& s, Scope& scope, Analyzed& seen) {
  const Node& node = s.node.node;
  if (node.find("then_branch")) return branches(s, scope);
  const bool tensors = std::all_of(s.inputs.begin(), s.inputs.end(), [](const Abstract& input) {
    return input.is_tensor() || input.type.kind == ValueType::Kind::unknown;
  });
  const bool counted =
      s.inputs.size() >= 2 && node.find("body") && !node.find("num_scan_inputs") && tensors;
  return counted ? loop(s, scope, seen) : unfollowed(s, scope, seen);
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
                                           const std::vector<Abstract>& state, bool enters) {
  const std::vector<Abstract> results =
      body(s.node, s.node.subgraphs.front(), state, scope, enters);
  std::vector<Abstract> next = state;
  for (std::size_t k = 2; k < state.size(); ++k)
    next[k] = join(s.inputs[k], results[k - 1], s.setting.tensors);
  return next;
}

// The state that holds in every round: rounds until nothing changes, with ends that keep moving
// pushed far out, and then one step back from where that went too far. False if there is none.
bool Analysis::settle_loop(const Situation& s, Scope& scope, std::vector<Abstract>& state,
                           bool enters) {
  const auto settled = [&](const std::vector<Abstract>& next) {
    for (std::size_t k = 2; k < state.size(); ++k)
      if (!contains(state[k], next[k])) return false;
    return true;
  };
  std::vector<Abstract> next = next_state(s, scope, state, enters);
  for (int round = 1; !settled(next); ++round) {
    if (round == kMostRounds) return false;
    for (std::size_t k = 2; k < state.size(); ++k) {
      const Abstract joined = join(state[k], next[k], s.setting.tensors);
      state[k] = round < kRounds ? joined : widened(state[k], joined);
    }
    next = next_state(s, scope, state, enters);
  }
  const std::vector<Abstract> wide = std::exchange(state, next);
  if (!settled(next_state(s, scope, state, enters))) state = wide;
  return true;
}

// The inputs are a number of rounds, a condition and the values that are carried from one round to
// the next; the body's outputs are the condition, those values, and what is collected.
std::vector<Abstract> Analysis::loop(Situation& s, Scope& scope, Analyzed& seen) {
  const std::size_t carried = s.inputs.size() - 2;
  const Interval rounds = s.present(0) ? hull_of(s.inputs[0]) : Interval{0, kMostCounted, false};
  const bool enters = rounds.high >= 1 && (!s.present(1) || truth_of(s.inputs[1]).first);
  std::vector<Abstract> state(s.inputs.begin(), s.inputs.end());
  state[0] = uniform(ValueType::tensor(ElementType::i64, Dims{}),
                     {0, std::max(rounds.high - 1, 0.0), false});
  state[1] = uniform(ValueType::tensor(ElementType::boolean, Dims{}), {0, 1, false});
  const bool quiet = std::exchange(quiet_, true);
  const bool found = settle_loop(s, scope, state, enters);
  quiet_ = quiet;
  if (!found) return unfollowed(s, scope, seen);
  const std::vector<Abstract> results =
      body(s.node, s.node.subgraphs.front(), state, scope, enters);
  std::vector<Abstract> outputs;
  for (std::size_t k = 0; k < carried; ++k)
    outputs.push_back(enters ? join(s.inputs[2 + k], results[1 + k], s.setting.tensors)
                             : s.inputs[2 + k]);
  for (std::size_t k = carried; k + 1 < results.size() && k < s.output_types.size(); ++k) {
    const ValueType& type = s.output_types[k];
    const bool numbers = type.is_tensor() && results[1 + k].is_tensor();
    outputs.push_back(numbers ? uniform(type, hull_of(results[1 + k])) : anything(type));
  }
  return outputs;
}

// Bodies that nobody knows how to run are looked at with what they declare, so that their nodes are
// judged at all.
std::vector<Abstract> Analysis::unfollowed(Situation& s, Scope& scope, Analyzed& seen) {
  for (const PlannedSubgraph& graph : s.node.subgraphs) {
    std::vector<Abstract> inputs;
    for (int slot : graph.plan->inputs) {
      const std::string name = slot < 0 ? "" : graph.plan->names[static_cast<std::size_t>(slot)];
      const Known* known = scope.known->find(scope.path + s.node.path_into(graph) + name);
      inputs.push_back(anything(known ? known->type : ValueType{}));
    }
    body(s.node, graph, inputs, scope, true);
  }
  return unknown(s, seen, "what its graphs give is not followed");
}

}  // namespace assay

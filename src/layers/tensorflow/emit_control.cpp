// Branches and loops: Switch and Merge become If, frames become Loop.
#include <optional>
#include <unordered_set>

#include <fmt/format.h>

#include "graph/origin.h"
#include "layers/splice.h"
#include "layers/tensorflow/emitter.h"

namespace assay::tensorflow {
namespace {

constexpr std::size_t kMostLookedAt = 20000;  // nodes before a Merge, in search of its Switch

// Which way a value has come: the Switches before it and the side it took at each, nearest first.
struct Way {
  struct Side {
    Edge decides;
    std::size_t taken, distance;
  };
  std::unordered_map<std::string, Side> sides;  // by the name of what decides
};

using Choices = std::unordered_map<std::size_t, Choice>;

// What an earlier Merge has brought together again is no way any more.
Way way_to(const Wiring& wiring, const Choices& choices, const Edge& end) {
  Way way;
  std::unordered_set<std::string> together;
  std::unordered_set<std::size_t> seen;
  std::vector<Edge> open = {end};
  for (std::size_t next = 0; next < open.size() && seen.size() < kMostLookedAt; ++next) {
    const Edge edge = open[next];
    if (edge.node == kNowhere) continue;
    const WiredNode& node = wiring[edge.node];
    if (const auto merged = choices.find(edge.node); merged != choices.end()) {
      together.insert(wiring.value_name(merged->second.decides));
    }
    if (node.is("Switch") && node.inputs.size() == 2) {
      const Edge decides = wiring.root_of(node.inputs[1]);
      const std::string name = decides.node == kNowhere ? "" : wiring.value_name(decides);
      if (!name.empty() && !together.contains(name)) {
        way.sides.try_emplace(name, Way::Side{decides, edge.output, next});
      }
    }
    if (!seen.insert(edge.node).second) continue;
    open.insert(open.end(), node.inputs.begin(), node.inputs.end());
    for (const std::size_t before : node.after) open.push_back({before, 0});
  }
  return way;
}

// Of what the two inputs of a Merge took different sides at, the nearest decides.
std::optional<Choice> choice_of(const Wiring& wiring, const Choices& choices,
                                const WiredNode& merge) {
  if (merge.inputs.size() != 2) return std::nullopt;
  const Way first = way_to(wiring, choices, merge.inputs[0]);
  const Way second = way_to(wiring, choices, merge.inputs[1]);
  std::optional<Choice> best;
  std::size_t nearest = 0;
  for (const auto& [name, side] : first.sides) {
    const auto other = second.sides.find(name);
    if (other == second.sides.end() || side.taken == other->second.taken) continue;
    const std::size_t distance = side.distance + other->second.distance;
    if (best && distance >= nearest) continue;
    nearest = distance;
    best = Choice{side.decides, side.taken == 1 ? std::size_t{0} : std::size_t{1}};
  }
  return best;
}

std::shared_ptr<const Graph> passing_on(const std::string& name, const std::string& from,
                                        std::int64_t index) {
  auto graph = std::make_shared<Graph>();
  graph->name = name;
  Node copy;
  copy.op = "Identity";
  copy.name = name;
  copy.inputs = {from};
  copy.outputs = {name};
  Node number =
      constant_node(name + "::index", make_scalar(ElementType::i32, static_cast<double>(index)));
  graph->nodes = {copy, number};
  graph->outputs = {{name, {}, {}, {}}, {number.name, {}, {}, {}}};
  return graph;
}

}  // namespace

// A node runs where all that it needs does; after a Merge, where both of its sides do.
void Emitter::find_sides(std::size_t node) {
  const WiredNode& wired = wiring_[node];
  const auto of_edge = [&](const Edge& edge) {
    Sides sides;
    if (edge.node == kNowhere) return sides;
    if (const auto found = sides_.find(edge.node); found != sides_.end()) sides = found->second;
    const WiredNode& from = wiring_[edge.node];
    if (!from.is("Switch") || from.inputs.size() != 2) return sides;
    const Edge decides = wiring_.root_of(from.inputs[1]);
    if (decides.node != kNowhere && !wiring_[decides.node].is("LoopCond"))
      sides[wiring_.value_name(decides)] = edge.output;
    return sides;
  };
  Sides all;
  for (std::size_t i = 0; i < wired.inputs.size(); ++i) {
    Sides sides = of_edge(wired.inputs[i]);
    if (wired.is("Merge") && i > 0)
      std::erase_if(all, [&](const auto& side) {
        const auto other = sides.find(side.first);
        return other == sides.end() || other->second != side.second;
      });
    else
      all.merge(sides);
  }
  if (!wired.is("Merge"))
    for (const std::size_t before : wired.after) {
      Sides sides = of_edge({before, 0});
      all.merge(sides);
    }
  if (!all.empty()) sides_.insert_or_assign(node, std::move(all));
}

void Emitter::note_sides(std::size_t node, const Scope& scope, std::size_t first) {
  const auto sides = sides_.find(node);
  if (sides == sides_.end()) return;
  std::string when;
  for (const auto& [name, side] : sides->second)
    when += fmt::format("{}{}={}", when.empty() ? "" : " ", name, side);
  for (std::size_t i = first; i < scope.graph->nodes.size(); ++i)
    scope.graph->nodes[i].metadata.add(std::string(kOriginWhen), when);
}

void Emitter::add_copy(std::size_t node, const std::string& from, const std::string& to,
                       Scope& scope) {
  Node copy;
  copy.op = "Identity";
  copy.name = to;
  copy.inputs = {from};
  copy.outputs = {to};
  copy.metadata = origin_of(wiring_[node].def->name, wiring_[node].def->op);
  scope.graph->nodes.push_back(std::move(copy));
}

void Emitter::emit_control(std::size_t node, Scope& scope) {
  const WiredNode& wired = wiring_[node];
  if (wired.inputs.empty()) return emit_unknown(node, scope, "it has no input");
  if (wired.is("Switch")) return emit_switch(node, scope);
  if (wired.is("Merge")) return emit_merge(node, scope);
  const bool of_loop = frames_.of(node) != Frames::kOutermost;
  if (wired.is("Exit") && of_loop) {
    if (scope.loops.insert(frames_.of(node)).second) emit_loop(frames_.of(node), scope);
    return;
  }
  add_copy(node, input(node, 0, scope), own_value(node, 0, scope), scope);
}

// Both sides are computed: the If at the Merge takes one.
void Emitter::emit_switch(std::size_t node, Scope& scope) {
  for (std::size_t i = 0; i < wiring_[node].outputs; ++i) {
    add_copy(node, input(node, 0, scope), own_value(node, i, scope), scope);
  }
}

void Emitter::emit_merge(std::size_t node, Scope& scope) {
  const auto choice = choice_of(wiring_, choices_, wiring_[node]);
  if (!choice) return emit_unknown(node, scope, "it is not known what decides between its inputs");
  choices_.try_emplace(node, *choice);
  const std::string name = own_value(node, 0, scope);
  Node either;
  either.op = "If";
  either.name = name;
  either.inputs = {value(choice->decides, scope)};
  either.outputs = {name};
  if (wiring_[node].outputs > 1) either.outputs.push_back(own_value(node, 1, scope));
  const auto side = [&](const char* branch, std::size_t i) {
    auto graph = *passing_on(fmt::format("{}::{}", name, branch), input(node, i, scope),
                             static_cast<std::int64_t>(i));
    graph.outputs.resize(either.outputs.size());
    graph.nodes.resize(either.outputs.size());
    either.attributes.push_back(attribute(branch, std::make_shared<const Graph>(std::move(graph))));
  };
  side("then_branch", choice->if_true);
  side("else_branch", 1 - choice->if_true);
  either.metadata = origin_of(wiring_[node].def->name, wiring_[node].def->op);
  scope.graph->nodes.push_back(std::move(either));
}

// The value of the loop's condition in a scope where the loop's variables have their names.
std::string Emitter::decide(const Frame& frame, Scope scope) {
  for (const std::size_t node : frame.deciding) emit(node, scope);
  return input(frame.condition, 0, scope);
}

void Emitter::emit_loop(std::size_t number, Scope& scope) {
  const Frame& frame = frames_[number];
  if (!frame.failure.empty()) return emit_unstructured(number, scope);
  const std::string place = frame.name + scope.suffix;
  Scope before = scope;
  before.suffix = scope.suffix + "::first";
  for (const std::size_t enter : frame.enters) {
    before.names[wiring_.value_name({enter, 0})] = input(enter, 0, scope);
  }
  Node loop;
  for (const LoopVariable& variable : frame.variables) {
    const std::string start = input(variable.enter, 0, scope);
    before.names[wiring_.value_name({variable.merge, 0})] = start;
    loop.inputs.push_back(start);
    loop.outputs.push_back(variable.exit == kNowhere
                               ? fmt::format("{}::{}", place, loop.outputs.size())
                               : own_value(variable.exit, 0, scope));
  }
  loop.inputs.insert(loop.inputs.begin(), {"", decide(frame, before)});
  loop.op = "Loop";
  loop.name = place;
  Graph body = loop_body(frame, before, place);
  loop.attributes = {attribute("body", std::make_shared<const Graph>(std::move(body)))};
  loop.metadata = origin_of(frame.name, "while");
  scope.graph->nodes.push_back(std::move(loop));
}

Graph Emitter::loop_body(const Frame& frame, const Scope& outside, const std::string& place) {
  Graph body;
  body.name = place;
  Scope inside{&body, outside.path + place + "/body/", "", outside.names, {}};
  body.inputs = {{place + "::round", ValueType::tensor(ElementType::i64, Dims{}), {}, {}},
                 {place + "::running", ValueType::tensor(ElementType::boolean, Dims{}), {}, {}}};
  std::unordered_set<std::size_t> parts = {frame.condition};
  for (const LoopVariable& variable : frame.variables) {
    const std::string state = wiring_.value_name({variable.merge, 0});
    body.inputs.push_back({state, {}, {}, {}});
    inside.names[state] = state;
    if (variable.branch == kNowhere) continue;
    for (std::size_t side = 0; side < 2; ++side) {
      inside.names[wiring_.value_name({variable.branch, side})] = state;
    }
    parts.insert({variable.merge, variable.branch, variable.exit});
  }
  inside.names[wiring_.value_name({frame.condition, 0})] = place + "::running";
  for (const std::size_t node : frame.nodes) {
    if (!parts.contains(node) && !wiring_[node].is("Enter")) emit(node, inside);
  }
  Scope again = inside;
  again.suffix = "::again";
  for (const LoopVariable& variable : frame.variables) {
    again.names[wiring_.value_name({variable.merge, 0})] = wiring_.value_name({variable.next, 0});
  }
  const std::string goes_on = place + "::again";
  add_copy(frame.condition, decide(frame, again), goes_on, inside);
  body.outputs.push_back({goes_on, {}, {}, {}});
  for (const LoopVariable& variable : frame.variables) {
    body.outputs.push_back({wiring_.value_name({variable.next, 0}), {}, {}, {}});
  }
  return body;
}

// Its nodes keep their names; what goes back into a Merge is left out.
void Emitter::emit_unstructured(std::size_t number, Scope& scope) {
  const Frame& frame = frames_[number];
  const std::string reason =
      fmt::format("the loop '{}' is not one that can be read: {}", frame.name, frame.failure);
  for (const std::size_t node : frame.nodes) {
    if (wiring_[node].silent || wiring_[node].is("NextIteration")) continue;
    if (frames_.of(node) != number || wiring_[node].part() == Part::constant) {
      emit(node, scope);
      continue;
    }
    emit_unknown(node, scope, reason);
    if (!wiring_[node].is("Merge")) continue;
    std::vector<std::string>& kept = scope.graph->nodes.back().inputs;
    for (std::size_t i = kept.size(); i-- > 0;) {
      const std::size_t from = wiring_[node].inputs[i].node;
      if (from != kNowhere && wiring_[from].is("NextIteration")) {
        kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  }
}

}  // namespace assay::tensorflow

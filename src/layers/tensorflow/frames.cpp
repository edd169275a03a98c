#include "layers/tensorflow/frames.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "graph/order.h"

namespace assay::tensorflow {
namespace {

constexpr int kMostCopies = 100;  // of a variable between its Switch and its Exit

}  // namespace

Frames::Frames(const Wiring& wiring) : wiring_(wiring), of_(wiring.nodes().size(), kOutermost) {
  frames_.emplace_back();
  depth_.push_back(0);
  assign(wiring.order());
  // A loop runs when all that enters it is there.
  Needs needs;
  for (std::size_t i = 0; i < of_.size(); ++i) {
    if (wiring[i].is("Exit") && of_[i] != kOutermost) needs[i] = frames_[of_[i]].enters;
  }
  const std::vector<std::size_t> order =
      needs.empty() ? wiring.order() : execution_order(wiring, needs);
  for (const std::size_t i : order) {
    frames_[of_[i]].nodes.push_back(i);
    if (wiring[i].is("Exit") && of_[i] != kOutermost) {
      frames_[frames_[of_[i]].parent].nodes.push_back(i);
    }
  }
  for (std::size_t frame = 1; frame < frames_.size(); ++frame) structure(frame);
}

std::size_t Frames::value_frame(std::size_t node) const {
  return wiring_[node].is("Exit") ? frames_[of_[node]].parent : of_[node];
}

std::size_t Frames::entered(std::size_t node, std::size_t parent) {
  std::string name;
  for (const Attribute& attribute : wiring_[node].def->attributes) {
    const auto* text = std::get_if<std::string>(&attribute.value);
    if (attribute.name == "frame_name" && text) name = *text;
  }
  const auto [place, fresh] =
      numbers_.try_emplace(fmt::format("{} {}", parent, name), frames_.size());
  if (!fresh) return place->second;
  frames_.emplace_back();
  frames_.back().name = name;
  frames_.back().parent = parent;
  depth_.push_back(depth_[parent] + 1);
  return frames_.size() - 1;
}

void Frames::assign(const std::vector<std::size_t>& order) {
  for (const std::size_t i : order) {
    std::size_t deepest = kOutermost;
    const auto meet = [&](std::size_t node) {
      if (node == kNowhere) return;
      const std::size_t frame = value_frame(node);
      if (depth_[frame] > depth_[deepest]) deepest = frame;
    };
    for (const Edge& edge : wiring_[i].inputs) meet(edge.node);
    for (const std::size_t node : wiring_[i].after) meet(node);
    of_[i] = deepest;
    if (!wiring_[i].is("Enter") || depth_[deepest] >= kMaxNesting) continue;
    of_[i] = entered(i, deepest);
    frames_[of_[i]].enters.push_back(i);
  }
}

void Frames::structure(std::size_t number) {
  Frame& frame = frames_[number];
  const auto fail = [&](std::string reason) {
    if (frame.failure.empty()) frame.failure = std::move(reason);
  };
  for (const std::size_t i : frame.enters) {
    if (wiring_[i].inputs.empty()) fail(fmt::format("'{}' enters nothing", wiring_[i].def->name));
  }
  for (const std::size_t i : frame.nodes) {
    const WiredNode& node = wiring_[i];
    if (node.is("LoopCond") && of_[i] == number) {
      if (frame.condition != kNowhere) fail("it has two conditions");
      frame.condition = i;
    }
    if (!node.is("Merge") || node.inputs.size() != 2) continue;
    const auto [first, second] = std::pair(node.inputs[0].node, node.inputs[1].node);
    if (first == kNowhere || second == kNowhere || !wiring_[second].is("NextIteration")) continue;
    if (!wiring_[first].is("Enter") || wiring_[first].inputs.empty() ||
        wiring_[second].inputs.empty()) {
      fail(fmt::format("'{}' is not entered", node.def->name));
    }
    frame.variables.push_back({i, first, second});
  }
  find_ends(frame, number);
  const bool decided = frame.condition != kNowhere && !wiring_[frame.condition].inputs.empty() &&
                       wiring_[frame.condition].inputs[0].node != kNowhere;
  if (!decided) fail("it has no condition");
  if (frame.failure.empty()) find_deciding(frame, number);
}

// The Switch and the Exit of each variable.
void Frames::find_ends(Frame& frame, std::size_t number) {
  std::unordered_map<std::size_t, LoopVariable*> of_merge, of_switch;
  for (LoopVariable& variable : frame.variables) of_merge[variable.merge] = &variable;
  const auto find = [](const auto& map, std::size_t key) -> LoopVariable* {
    const auto found = map.find(key);
    return found == map.end() ? nullptr : found->second;
  };
  for (const std::size_t i : frame.nodes) {
    const WiredNode& node = wiring_[i];
    if (node.inputs.empty() || of_[i] != number) continue;
    std::size_t from = node.inputs[0].node;
    for (int steps = 0; steps < kMostCopies && node.is("Exit") && from != kNowhere; ++steps) {
      if (!wiring_[from].is("Identity") || wiring_[from].inputs.empty()) break;
      from = wiring_[from].inputs[0].node;
    }
    if (LoopVariable* variable = node.is("Switch") ? find(of_merge, from) : nullptr) {
      variable->branch = i;
      of_switch[i] = variable;
    }
    if (!node.is("Exit")) continue;
    if (LoopVariable* variable = find(of_switch, from)) {
      variable->exit = i;
    } else if (frame.failure.empty()) {
      frame.failure = fmt::format("'{}' leaves it with no variable of it", node.def->name);
    }
  }
}

void Frames::find_deciding(Frame& frame, std::size_t number) {
  std::unordered_set<std::size_t> needed, stop;
  for (const LoopVariable& variable : frame.variables) stop.insert(variable.merge);
  std::vector<std::size_t> open = {wiring_[frame.condition].inputs[0].node};
  while (!open.empty()) {
    const std::size_t i = open.back();
    open.pop_back();
    if (i == kNowhere || stop.contains(i) || of_[i] != number || wiring_[i].is("Enter")) continue;
    if (!needed.insert(i).second) continue;
    if (wiring_[i].part() == Part::control) frame.failure = "control decides on its condition";
    for (const Edge& edge : wiring_[i].inputs) open.push_back(edge.node);
  }
  std::copy_if(frame.nodes.begin(), frame.nodes.end(), std::back_inserter(frame.deciding),
               [&](std::size_t i) { return needed.contains(i); });
}

}  // namespace assay::tensorflow

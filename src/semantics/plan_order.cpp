#include "semantics/plan_order.h"

#include <algorithm>
#include <vector>

namespace assay {
namespace {

// Slots that are defined so far.
class Defined {
 public:
  explicit Defined(std::size_t count) : slots_(count) {}
  bool contains(int slot) const { return slot >= 0 && slots_[static_cast<std::size_t>(slot)]; }
  // False for one that is defined already, or has no name.
  bool add(int slot) {
    if (slot < 0 || contains(slot)) return false;
    return slots_[static_cast<std::size_t>(slot)] = true;
  }

 private:
  std::vector<bool> slots_;
};

bool names_attributes_once(const Node& node) {
  for (std::size_t i = 1; i < node.attributes.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (node.attributes[i].name == node.attributes[k].name) return false;
  return true;
}

bool reads_what_is_defined(const PlannedNode& node, const Defined& defined) {
  return std::ranges::all_of(node.inputs, [&](const SlotRef& input) {
    return input.slot < 0 || (input.depth == 0 && defined.contains(input.slot));
  });
}

bool defines_what_is_new(const PlannedNode& node, Defined& defined) {
  return std::ranges::all_of(node.outputs,
                             [&](int output) { return output < 0 || defined.add(output); });
}

}  // namespace

bool is_in_order(const Model& model, const Plan& plan) {
  if (!model.functions.empty() || plan.nodes.size() != model.graph.nodes.size()) return false;
  Defined initializers(plan.names.size()), defined(plan.names.size());
  const auto is_named = [](const auto& value) { return !value.name.empty(); };
  if (!std::ranges::all_of(model.graph.inputs, is_named) ||
      !std::ranges::all_of(model.graph.initializers, is_named) ||
      !std::ranges::all_of(model.graph.outputs, is_named) ||
      !model.graph.sparse_initializers.empty())
    return false;
  for (const int input : plan.inputs)
    if (!defined.add(input)) return false;
  for (const auto& [slot, tensor] : plan.constants) {
    if (!initializers.add(slot)) return false;
    defined.add(slot);  // it may be an input's default
  }
  for (const PlannedNode& planned : plan.nodes) {
    const Node& node = planned.node;
    const bool right = !node.op.empty() && model.opsets.contains(node.domain) &&
                       planned.subgraphs.empty() && names_attributes_once(node) &&
                       reads_what_is_defined(planned, defined) &&
                       defines_what_is_new(planned, defined);
    if (!right) return false;
  }
  return std::ranges::all_of(plan.outputs,
                             [&](const SlotRef& output) { return defined.contains(output.slot); });
}

}  // namespace assay

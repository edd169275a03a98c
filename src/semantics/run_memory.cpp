#include "semantics/run_memory.h"

#include <algorithm>

namespace assay {
namespace {

constexpr std::int64_t kMostCompared = 256;  // elements

bool same_elements(const Tensor& a, const Tensor& b) {
  return a.raw() == b.raw() || identical(a, b);
}

bool holds_for_input(const NodeMemory::Input& known, const Value& value) {
  if (known.present != value.present()) return false;
  if (!known.present) return true;
  if (!value.is_tensor() || value.type() != known.type || value.exact() != known.exact ||
      value.shape() != known.shape) {
    return false;
  }
  return !known.elements.defined() || same_elements(known.elements, value.tensor());
}

// Whether what is remembered follows from the types of the inputs: no element of them was asked
// for, apart from initialisers, and the types of the outputs were known beforehand.
bool follows_from_types(const PlannedNode& node, const NodeMemory& memory, const Plan& plan) {
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if ((memory.site.elements_read() >> std::min<std::size_t>(i, 63) & 1) == 0) continue;
    const SlotRef& input = node.inputs[i];
    const bool fixed = std::ranges::any_of(
        plan.constants, [&](const auto& constant) { return constant.first == input.slot; });
    if (input.depth > 0 || !fixed) return false;
  }
  return std::ranges::all_of(memory.types, [](const ValueType& type) {
    return type.is_tensor() && type.dims && std::ranges::all_of(*type.dims, &Dim::known);
  });
}

}  // namespace

void RunMemory::settle(const Plan& plan) {
  settled = plan.plan_count == 1 && std::ranges::all_of(plan.nodes, [&](const PlannedNode& node) {
              const NodeMemory* memory = node.function ? nullptr : nodes[node.id].get();
              return memory && memory->reading == Reading::value &&
                     follows_from_types(node, *memory, plan);
            });
  if (!settled) return;
  for (const auto& memory : nodes) memory->inputs = {};
}

bool holds_for(const NodeMemory& memory, Reading reading, std::span<const Value> inputs) {
  return memory.reading == reading && memory.inputs.size() == inputs.size() &&
         std::equal(
             inputs.begin(), inputs.end(), memory.inputs.begin(),
             [](const Value& value, const auto& known) { return holds_for_input(known, value); });
}

bool keep_inputs(NodeMemory& memory, Reading reading, std::span<const Value> inputs) {
  memory.reading = reading;
  memory.inputs.clear();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Value& value = inputs[i];
    NodeMemory::Input known;
    known.present = value.present();
    if (known.present) {
      if (!value.is_tensor()) return false;
      known.exact = value.exact();
      known.type = value.type();
      known.shape = value.shape();
      const bool asked = (memory.site.elements_read() >> std::min<std::size_t>(i, 63) & 1) != 0;
      if (asked && known.exact) {
        if (value.tensor().size() > kMostCompared) return false;
        known.elements = value.tensor();
      }
    }
    memory.inputs.push_back(std::move(known));
  }
  return true;
}

}  // namespace assay

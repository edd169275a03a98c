// The values of one graph while it is analysed.
#pragma once

#include <memory>
#include <utility>

#include "numeric/analysis.h"

namespace assay {

struct Analysis::Scope {
  const Plan& plan;
  std::string path;
  const Scope* outer = nullptr;
  // Inferred types and small constants by name, of this graph and those inside it.
  std::shared_ptr<const KnownNames> known;
  // Values are large and most of them are soon of no use: those that nobody needs are null.
  std::vector<std::unique_ptr<Abstract>> slots{};
  bool reachable = true;
  bool known_by_slot = false;  // the plan came with what is known
  mutable std::size_t next_known = 0;

  // Makes room for the values, and puts the constants there.
  void enter() {
    slots.resize(plan.names.size());
    for (const auto& [slot, tensor] : plan.constants) put(slot, constant_abstract(tensor));
  }
  void put(int slot, Abstract value) {
    if (slot >= 0)
      slots[static_cast<std::size_t>(slot)] = std::make_unique<Abstract>(std::move(value));
  }
  const Abstract& at(const SlotRef& ref) const {
    static const Abstract kAbsent;
    if (ref.slot < 0) return kAbsent;
    const Scope* scope = this;
    for (int i = 0; i < ref.depth; ++i) scope = scope->outer;
    const auto& value = scope->slots[static_cast<std::size_t>(ref.slot)];
    return value ? *value : kAbsent;
  }
  // The value is not kept where nothing else reads it.
  Abstract take(const SlotRef& ref) {
    if (ref.slot < 0 || !ref.last || ref.depth > 0) return at(ref);
    const std::unique_ptr<Abstract> value = std::move(slots[static_cast<std::size_t>(ref.slot)]);
    return value ? std::move(*value) : Abstract();
  }
  std::vector<Abstract> outputs() const {
    std::vector<Abstract> values;
    values.reserve(plan.outputs.size());
    for (const SlotRef& output : plan.outputs) values.push_back(at(output));
    return values;
  }
  const Known* find(const PlannedNode& node, std::size_t output) const {
    const std::string& name = node.node.outputs[output];
    if (name.empty()) return nullptr;  // an output that nobody wants
    if (known_by_slot) return known->at(node.outputs[output]);
    return path.empty() ? known->find(name, next_known) : known->find(path + name);
  }
};

}  // namespace assay

// The values of one graph while it is analysed.
#pragma once

#include <utility>

#include "numeric/analysis.h"

namespace assay {

struct Analysis::Scope {
  const Plan& plan;
  std::string path;
  const Scope* outer = nullptr;
  // Inferred types and small constants by name, of this graph and those inside it.
  std::shared_ptr<const KnownNames> known;
  std::vector<Abstract> slots{};
  std::vector<Abstract> outputs{};
  bool reachable = true;
  mutable std::size_t next_known = 0;

  const Abstract& at(const SlotRef& ref) const {
    static const Abstract kAbsent;
    if (ref.slot < 0) return kAbsent;
    const Scope* scope = this;
    for (int i = 0; i < ref.depth; ++i) scope = scope->outer;
    return scope->slots[static_cast<std::size_t>(ref.slot)];
  }
  // The value is not kept where nothing else reads it.
  Abstract take(const SlotRef& ref) {
    if (!ref.last || ref.depth > 0) return at(ref);
    return std::exchange(slots[static_cast<std::size_t>(ref.slot)], {});
  }
  const Known* find(const std::string& name) const {
    return path.empty() ? known->find(name, next_known) : known->find(path + name);
  }
};

}  // namespace assay

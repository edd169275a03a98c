// TransferMemory: what a node makes of abstract tensors, for the next node of the same kind on the
// same ones. Networks are blocks over and over, and an optimiser does the same with each weight.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "numeric/abstract.h"
#include "numeric/applied.h"
#include "numeric/numbered_forms.h"
#include "semantics/plan.h"

namespace assay {

struct Situation;

class TransferMemory {
 public:
  struct Said {
    std::optional<std::vector<Abstract>> outputs;  // with numbers for forms; none: nothing applies
    FormViews views;
    bool elementwise = false;
    std::vector<Applied> applied;
    std::optional<Interval> left_type;
  };

  // Whether these have so few elements and cells that they may be remembered.
  static bool are_short(std::span<const Abstract> values);
  // What decides about a node without graphs inside; empty where that cannot be told.
  static std::string key_of(const Situation& s, const NumberedForms& forms);
  const Said* find(const std::string& key) const;  // null: nothing was said
  // Of no more than a few elements, and not without end.
  void keep(std::string key, Said said);

 private:
  std::unordered_map<std::string, Said> said_;
};

}  // namespace assay

// RangeMemory: what the Interval reading gave for nodes on a few ranges, for the next node of the
// same kind on the same ones. Weights are given one range, networks are blocks over and over, and
// so are the steps of an optimiser.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/value.h"
#include "numeric/abstract.h"
#include "numeric/applied.h"
#include "scalar/watch.h"
#include "semantics/plan.h"

namespace assay {

class RangeMemory {
 public:
  struct Said {
    std::vector<Value> outputs;
    std::vector<Applied> applied;
    std::optional<Interval> left_type;
  };

  // What decides about a node without graphs inside; empty where that is much, or cannot be told.
  static std::string key_of(const PlannedNode& node, std::span<const Value> inputs,
                            const Counts* counted);
  // Of an elementwise node on tensors that are one range each, or one number; of any shape.
  static std::string key_of_points(const PlannedNode& node, std::span<const Abstract> inputs);
  const Said* find(const std::string& key) const;  // null: nothing was said
  // Of no more than a few elements, and not without end.
  void keep(std::string key, Said said);

 private:
  std::unordered_map<std::string, Said> said_;
};

}  // namespace assay

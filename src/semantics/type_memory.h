// TypeMemory: what inference said of nodes, for the next one with the same attributes on inputs of
// which the same is known. Networks are made of a few blocks over and over, and so are gradients.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "ops/check.h"
#include "semantics/plan.h"

namespace assay {

class TypeMemory {
 public:
  struct Said {
    std::vector<Known> outputs;
    std::vector<Undecided> undecided;
  };

  // What decides about a node that has no graphs inside; empty where it cannot be told.
  static std::string key_of(const PlannedNode& node, std::span<const Known* const> inputs);
  const Said* find(const std::string& key) const;  // null: nothing was said
  void keep(std::string key, Said said);

 private:
  std::unordered_map<std::string, Said> said_;
};

}  // namespace assay

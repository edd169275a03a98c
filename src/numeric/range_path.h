// RangePath: the way that a range takes from an input or a parameter to an operation.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "graph/name_index.h"
#include "numeric/analysis.h"
#include "numeric/lint.h"

namespace assay {

// Remembers who made which value with what range, in one analysis.
class RangePaths {
 public:
  void note(const Analyzed& seen);
  // From the first value that nothing makes to what the node reads, along the widest operands.
  std::vector<LintStep> to(const PlannedNode& node, const std::string& path,
                           std::span<const Abstract> inputs) const;

 private:
  // The operand of a node whose range reaches furthest.
  struct Operand {
    const std::string* value = nullptr;  // null: none varies
    Interval range;
  };
  struct Made {
    const PlannedNode* node;
    std::string path;
    Interval range;
    Operand widest;
  };
  static Operand widest_of(const PlannedNode& node, std::span<const Abstract> inputs);
  // The value as a graph inside of nodes sees it; null where nothing makes it.
  const Made* find(const std::string& path, const std::string& value) const;

  // By the names of values, which the plan owns; in graphs inside, with their paths.
  NameIndex main_names_;
  std::vector<Made> main_;
  std::unordered_map<std::string, Made> inner_;
};

}  // namespace assay

// RangePath: the way that a range takes from an input or a parameter to an operation.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "base/chunked.h"
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
    int slot = -1;                       // in the main graph
    Interval range;
  };
  struct Made {
    const PlannedNode* node = nullptr;
    Interval range;
    Operand widest;
  };
  struct MadeInside {
    std::string path;
    Made made;
  };
  static Operand widest_of(const PlannedNode& node, std::span<const Abstract> inputs);
  // The value as a graph inside of nodes sees it, and the path of what makes it; null where nothing
  // does.
  const Made* find(std::string& path, const Operand& value) const;
  const Made* find_in_main(const std::string& value) const;

  Chunked<Made> main_;                                 // by slot; without a node: nothing varies
  std::unordered_map<std::string, MadeInside> inner_;  // by the value's name, behind its path
};

}  // namespace assay

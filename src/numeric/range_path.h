// RangePath: the way that a range takes from an input or a parameter to an operation.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

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
  struct Operand {
    std::string value;  // with the path of its graph
    Interval range;
  };
  struct Made {
    const PlannedNode* node;
    Interval range;
    Operand widest;  // of its operands; no value: it has none that varies
  };
  Operand widest_of(const PlannedNode& node, const std::string& path,
                    std::span<const Abstract> inputs) const;
  std::string resolved(const std::string& path, const std::string& name) const;

  std::unordered_map<std::string, Made> made_;
};

}  // namespace assay

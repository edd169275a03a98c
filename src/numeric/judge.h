// One analysis of a model, judged node by node.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "numeric/analysis.h"
#include "numeric/lint.h"

namespace assay {

struct Assessment {
  std::vector<LintNode> nodes;  // in order of execution, one for each node that a check is about
  std::vector<std::set<int>> roots;  // that each depends on
  std::vector<std::set<int>> mixed;  // those of which one element depends on several elements
  std::vector<std::pair<std::string, std::string>> unknown;
};

// Analyses the model with these roots.
Assessment judge(const Model& model, const Roots& roots, const Setting& setting);

// Whether each node that is unsafe in `judgement` is safe in another one of the same model.
bool is_safe(const Assessment& judgement, const std::string& name);

}  // namespace assay

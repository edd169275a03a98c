// One analysis of a model, judged node by node.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "numeric/analysis.h"
#include "numeric/checks/check.h"
#include "numeric/lint.h"

namespace assay {

// Where an unsafe operation is, and what it gets there.
struct LintSite {
  const PlannedNode* node = nullptr;  // none: the operation is safe
  std::string path;                   // of the graph that it is in
  std::vector<Abstract> inputs;
  ElementType result = ElementType::undefined;  // the type of what it gives
  Remedy remedy = Remedy::none;
  const NumericCheck* check = nullptr;  // that a function's argument did not pass
  Applied applied;                      // that function
};

struct Assessment {
  std::vector<LintNode> nodes;  // in order of execution, one for each node that a check is about
  std::vector<RootSet> roots;   // that each depends on
  std::vector<RootSet> mixed;   // those of which one element depends on several elements
  std::vector<LintSite> sites;
  std::vector<std::pair<std::string, std::string>> unknown;
  std::map<std::string, LintRange> ranges;  // of the main graph's values, if asked for
};

// Analyses one model as often as asked, with roots of the same types. Sites of its assessments
// point into it.
class Assessor {
 public:
  Assessor(const Model& model, const Setting& setting, std::map<std::string, Interval> overrides,
           std::shared_ptr<const ModelTypes> types = nullptr);
  Assessment judge(const std::map<std::string, Abstract>& values);
  // The same with the paths to what is unsafe and, if wanted, the ranges of all values.
  Assessment judge_with_paths(const std::map<std::string, Abstract>& values, bool keep_ranges);
  // Whether one operation is safe, by its name in an assessment; analyses no more than it needs.
  bool proves(const std::string& name, const std::map<std::string, Abstract>& values);
  // Of a value by its path and name; only after an analysis.
  ValueType type_of(const std::string& name) const { return analysis_.type_of(name); }

 private:
  void analyse(const std::map<std::string, Abstract>& values);

  std::function<void(const Analyzed&)> observe_;
  Analysis analysis_;
  std::map<std::string, std::vector<bool>> needed_;  // nodes, by the operation that needs them
};

Assessment judge(const Model& model, const Roots& roots, const Setting& setting);

// Whether each node that is unsafe in `judgement` is safe in another one of the same model.
bool is_safe(const Assessment& judgement, const std::string& name);

}  // namespace assay

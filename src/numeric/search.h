// LintSearch: what is tried on operations that were not proved safe: halves of ranges, values that
// make them fail, and changes of the model and narrower ranges that make them safe.
#pragma once

#include <ctime>
#include <functional>
#include <random>

#include "numeric/judge.h"
#include "numeric/rewrite.h"

namespace assay {

bool is_unsafe(const LintNode& node);

class LintSearch {
 public:
  LintSearch(const Model& model, const Roots& roots, const LintOptions& options)
      : model_(&model),
        roots_(&roots),
        options_(&options),
        assessor_(model, options.setting, roots.overrides, options.types) {}

  // The analysis itself; the time to search begins when it is done.
  Assessment assess();
  // A range around 0 cut there: what is safe in both halves is safe.
  void split(Assessment& judgement);
  // Runs the reference on corners, middles and random points of the ranges. What fails there is an
  // error.
  void find_witnesses(Assessment& judgement) const;
  // Changes of the model with which the analysis proves operations safe, and finds no new danger.
  void find_rewrites(Assessment& judgement);
  // The widest range of one root, to 1 %, for which the analysis proves the operation safe.
  void find_ranges(Assessment& judgement);

 private:
  struct Candidate {
    std::size_t node = 0;  // of the assessment
    Rewrite rewrite;
  };

  double passed() const;                  // seconds of the search
  bool has_time(double share = 1) const;  // for one more analysis
  bool may_split(const Assessment& judgement, std::size_t node, int root) const;
  std::map<std::string, Abstract> narrowed(std::size_t root, const Interval& range) const;
  bool can_draw() const;
  std::map<std::string, Tensor> draw_all(int attempt, std::mt19937_64& random) const;
  double stretched(double end, double limit, const std::function<bool(double)>& safe);
  std::optional<Interval> safe_range(const LintNode& node, std::size_t root);
  bool works_alone(const LintSite& site, const Rewrite& guard) const;
  TypeOf types_around(const LintSite& site) const;
  std::optional<Rewrite> guard_of(const LintSite& site) const;
  std::optional<Assessment> rewritten(const Assessment& judgement,
                                      const std::vector<Candidate>& candidates) const;
  void keep_verified(const std::vector<Candidate>& candidates, const Assessment& after,
                     Assessment& judgement) const;

  const Model* model_;
  const Roots* roots_;
  const LintOptions* options_;
  Assessor assessor_;
  // In time of the processor, so that what else the machine does changes little.
  std::clock_t start_ = std::clock();
  double cost_ = 0;  // seconds that one analysis takes
};

}  // namespace assay

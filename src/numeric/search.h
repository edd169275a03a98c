// LintSearch: what is tried on operations that were not proved safe: halves of ranges, values that
// make them fail, and narrower ranges that make them safe.
#pragma once

#include <chrono>
#include <functional>
#include <random>

#include "numeric/judge.h"

namespace assay {

class LintSearch {
 public:
  LintSearch(const Model& model, const Roots& roots, const LintOptions& options)
      : model_(&model), roots_(&roots), options_(&options) {}

  // A range around 0 cut there: what is safe in both halves is safe.
  void split(Assessment& judgement) const;
  // Runs the reference on corners, middles and random points of the ranges. What fails there is an
  // error.
  void find_witnesses(Assessment& judgement) const;
  // The widest range of one root, to 1 %, for which the analysis proves the operation safe.
  void find_fixes(Assessment& judgement) const;

 private:
  bool has_time() const;
  bool may_split(const Assessment& judgement, std::size_t node, int root) const;
  Assessment with_range(std::size_t root, const Interval& range) const;
  bool can_draw() const;
  std::map<std::string, Tensor> draw_all(int attempt, std::mt19937_64& random) const;
  double stretched(double end, double limit, const std::function<bool(double)>& safe) const;
  std::optional<LintFix> fix(const LintNode& node, std::size_t root) const;

  const Model* model_;
  const Roots* roots_;
  const LintOptions* options_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace assay

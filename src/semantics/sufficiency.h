// Sufficiency: where the plain results of a node will do, no bounds are computed.
#pragma once

#include <functional>

#include "semantics/evaluator.h"

namespace assay {

// Asked about the plain results of a node on exact inputs, before its bounded reading: true makes
// them its results.
using Sufficiency = std::function<bool(const Evaluated&)>;

// Who is asked by evaluations on this thread; null outside every scope.
const Sufficiency* sufficiency();

class SufficiencyScope {
 public:
  explicit SufficiencyScope(const Sufficiency* ask);
  ~SufficiencyScope();
  SufficiencyScope(const SufficiencyScope&) = delete;
  SufficiencyScope& operator=(const SufficiencyScope&) = delete;

 private:
  const Sufficiency* before_;
};

}  // namespace assay

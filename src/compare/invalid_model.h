// A model that breaks the standard's rules on several backends: who accepts it, who dies of it.
#pragma once

#include <memory>
#include <vector>

#include "compare/comparison.h"

namespace assay {

// Each backend's one answer is its `plain` one. Findings: invalid-accepted for a backend that runs
// the model; crash, hang or memory for one that dies. One that refuses is right. Values that were
// recorded elsewhere accept nothing. `reason` is what is wrong, which is what the reference says.
Comparison compare_invalid(const Job& job, const std::string& reason,
                           std::vector<std::unique_ptr<Backend>>& backends,
                           const std::function<void(const std::string&)>& progress);

}  // namespace assay

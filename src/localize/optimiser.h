// Optimisers: where one goes wrong, in which nodes and by which of its passes.
#pragma once

#include <memory>
#include <vector>

#include "compare/comparison.h"

namespace assay {

// For every backend whose optimiser is to blame: what it answers or refuses changes when all passes
// are switched off. Its finding gets the smallest segment that shows it, as a test, and the passes
// that cure it; one that only now turns out to be the optimiser's is added. Backends are those of
// the comparison, in its order.
void localise_optimisers(const Subject& subject, std::vector<std::unique_ptr<Backend>>& backends,
                         std::uint64_t seed, const ComparisonProgress& progress,
                         Comparison& comparison);

}  // namespace assay

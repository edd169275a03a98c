// Pairs of backends: the published distances over all instances, and the bound's own.
#pragma once

#include "compare/comparison.h"

namespace assay {

// For each pair of backends that answered: a row by the bound over all outputs, and rows of the
// first output by the published metrics, or the rows that the criteria ask for. Without labels the
// reference's outputs are the truth of the MAD distance, and an instance triggers only if rounding
// does not explain it.
std::vector<PairRow> compare_pairs(const Subject& subject, const Comparison& comparison);

}  // namespace assay

// Exactness: whether an optimised result is nearer to real arithmetic than the plain one.
#pragma once

#include <span>

#include "backends/answer.h"
#include "graph/graph.h"

namespace assay {

// Whether each output element of `one` is at least as near as that of `other` to what the model
// gives if nothing is rounded to less than double precision. False where that cannot be had.
bool is_nearer_to_exact(const Model& model, std::span<const Value> inputs, const Answer& one,
                        const Answer& other);

}  // namespace assay

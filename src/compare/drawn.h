// Drawn: whether a node's result is a matter of chance, so that nobody's can be held against it.
#pragma once

#include "semantics/evaluator.h"

namespace assay {

// Whether the node gives something else with another seed; one in training may, one that is not
// does not.
bool is_drawn(const PlannedNode& node, std::span<const Value> inputs);

}  // namespace assay

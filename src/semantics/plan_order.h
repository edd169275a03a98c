// Whether a model's names are right, by its plan.
#pragma once

#include "graph/graph.h"
#include "semantics/plan.h"

namespace assay {

// True only if check_structure (graph/order.h) finds nothing: of a model without functions and
// graphs inside of nodes, whose plan (for types, with the same nodes) has resolved all names. False
// says nothing.
bool is_in_order(const Model& model, const Plan& plan);

}  // namespace assay

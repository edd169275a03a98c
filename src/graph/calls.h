// Which function of a model calls which, and whether one ends up calling itself.
#pragma once

#include <vector>

#include "graph/order.h"

namespace assay {

// Functions that are defined twice (Graph.function) or call themselves (Graph.recursion).
std::vector<StructureFinding> check_calls(const Model& model);

}  // namespace assay

// Plans of graphs that exist for nothing else.
#pragma once

#include <memory>

#include "semantics/plan.h"

namespace assay {

// The plan of a graph that an entry of the catalogue has built over the newest operators. It takes
// the graph's nodes instead of copying them.
std::unique_ptr<Plan> plan_composed(Graph graph);
// The same for the graph of a model.
std::unique_ptr<Plan> plan_taking(Graph& graph, const Imports& imports);

}  // namespace assay

// The standard's defaults for the attributes that a node leaves out.
#pragma once

#include "graph/graph.h"
#include "ops/schema.h"

namespace assay {

// What complete() of catalogue.h does to a copy, done to the node itself.
void fill_defaults(Node& node, const Schema& schema);
// Whether there is nothing to fill in.
bool is_complete(const Node& node, const Schema& schema);

}  // namespace assay

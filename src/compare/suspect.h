// Suspect: the smallest model that shows what a backend does, cut out of the model it was seen in.
#pragma once

#include <optional>
#include <vector>

#include "formats/text_case.h"
#include "graph/graph.h"

namespace assay {

// One node of a model on the inputs that it had there, with what the standard says of them. None if
// the node cannot stand alone: its subgraph reads values around it, or the standard refuses it.
std::optional<BackendTest> cut_out(const Node& node, const std::vector<Value>& inputs,
                                   const Model& model);

}  // namespace assay

// Slices: some nodes of a model as a model of their own.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/value.h"

namespace assay {

using ValuesByName = std::map<std::string, Value>;

// The nodes at these positions of the main graph, in order. What they read and do not make, also
// inside their subgraphs, becomes an input, or an initializer if it is one in the model or hangs on
// no input of it: a constant that became an input would no longer be folded. What they make and
// others read, or the model answers, becomes an output. Types come from `values`. None if a name
// has neither value nor type there, or if nobody reads what the nodes make.
std::optional<Model> slice(const Model& model, const std::vector<std::size_t>& nodes,
                           const ValuesByName& values);

}  // namespace assay

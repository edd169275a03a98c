// The source of a model as calls of the package onnx.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace assay {

// Statements that set `model` to the bytes of a file with the graph: nodes, inputs, initializers,
// which are variables of the script, and outputs. `names` are what values are called there; others
// keep their own. None where calls cannot say it briefly: subgraphs, functions, large attributes.
std::optional<std::vector<std::string>> model_source(
    const Model& model, const std::map<std::string, std::string>& names);

}  // namespace assay

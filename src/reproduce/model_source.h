// The source of a model as calls of the package onnx.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace assay {

// Statements that set `model` to the bytes of a file with the graph; its inputs are those of the
// variable `feed`, arrays by name. `names` are what values are called, `weights` the sources of the
// initializers. None where a few calls cannot say it: subgraphs, functions, large attributes.
std::optional<std::vector<std::string>> model_source(
    const Model& model, const std::map<std::string, std::string>& names,
    const std::map<std::string, std::string>& weights);

}  // namespace assay

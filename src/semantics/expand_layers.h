// A model of layers as a model of the standard's operators alone, which any ONNX tool opens.
#pragma once

#include "base/result.h"
#include "graph/graph.h"

namespace assay {

// Puts in the place of each layer of the main graph the graph that it means; the value of a layer
// keeps its name. The model must be valid. A layer whose graph depends on extents
// that are not known is an Error of kind "invalid"; a class that nobody knows stays what it is.
Result<Model> expand_layers(const Model& model);

}  // namespace assay

// A model of layers on its way to a worker: as layers, or as what they mean.
#pragma once

#include <string>
#include <vector>

#include "backends/answer.h"
#include "base/result.h"
#include "graph/graph.h"

namespace assay {

bool has_layers(const Model& model);

// The names that workers are asked for: "keras.Dense", …
std::vector<std::string> layer_names();
bool is_layer_name(std::string_view name);

// An ONNX file's bytes. The layers have all their arguments, so that what is not given means what
// it means here, whatever a release takes it for.
Result<std::string> layers_to_onnx(const Model& model);
// The same in the standard's operators, for inputs of these shapes.
Result<std::string> operators_to_onnx(const Model& model, const NamedValues& inputs);

}  // namespace assay

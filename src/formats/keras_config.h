// Layers as Keras writes them down: a class, and a config of arguments in JSON.
#pragma once

#include <simdjson.h>
#include <string>

#include "graph/graph.h"

namespace assay {

// The node of a layer without its inputs and outputs: its class and arguments. Throws FormatError
// where the config is not of a form that Keras writes; what an argument may be is for the
// preconditions to say. Keys that only training or building reads are left out.
Node read_layer(std::string_view class_name, std::string name, simdjson::dom::element config);

// An option of a call, as an argument of the layer that is called.
void read_option(std::string_view name, simdjson::dom::element value, Node& node);

// A nested list of numbers; throws FormatError where its rows are of different lengths.
Tensor read_tensor(simdjson::dom::element value);

}  // namespace assay

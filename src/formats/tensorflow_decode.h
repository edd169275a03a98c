// From the wire format of TensorFlow graphs to plain ones.
#pragma once

#include <string_view>

#include "layers/tensorflow/graph_def.h"

namespace assay {

// These throw FormatError of kind "invalid" where a tensor or a name contradicts itself, and what
// scan_message throws. A field means what it does to protobuf, also where it comes more than once.
tensorflow::GraphDef decode_graph_def(std::string_view bytes);
// The graph that is for serving, else the first.
tensorflow::GraphDef decode_saved_model(std::string_view bytes);

}  // namespace assay

// From the wire format of TensorFlow graphs to plain ones.
#pragma once

#include "layers/tensorflow/graph_def.h"

namespace assay::tensorflow_wire {
class FunctionDefLibrary;
class GraphDef;
class NodeDef;
class TensorProto;
}  // namespace assay::tensorflow_wire

namespace assay {

// These throw FormatError of kind "invalid" where a tensor or a name contradicts itself. What the
// message holds is taken out of it.
tensorflow::GraphDef to_graph_def(tensorflow_wire::GraphDef& proto);
tensorflow::NodeDef to_node(tensorflow_wire::NodeDef& proto);
std::vector<tensorflow::FunctionDef> to_functions(tensorflow_wire::FunctionDefLibrary& proto);
Tensor to_tensor(const tensorflow_wire::TensorProto& proto);

// The element type of a DataType, a reference's that of what it refers to; undefined for handles
// and for types that the standard lacks.
ElementType element_type_of(int data_type);

}  // namespace assay

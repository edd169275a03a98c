// Types of ONNX files: TypeProto to ValueType and back.
#pragma once

#include "graph/types.h"

namespace onnx {
class TypeProto;
}

namespace assay {

// Throws FormatError for an element type that does not exist. An extent that is negative, or
// neither given nor named, is unknown.
ValueType to_value_type(const onnx::TypeProto& proto);
void put_type(const ValueType& type, onnx::TypeProto& proto);

}  // namespace assay

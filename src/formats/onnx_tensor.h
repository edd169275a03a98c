// Tensors of ONNX files: TensorProto and SparseTensorProto to Tensor and SparseTensor, and back.
#pragma once

#include <cstdint>
#include <optional>

#include "formats/external_data.h"
#include "graph/graph.h"
#include "tensor/tensor.h"

namespace onnx {
class SparseTensorProto;
class TensorProto;
}  // namespace onnx

namespace assay {

// The element type that a file's number stands for; throws FormatError if there is none.
ElementType element_type_from_number(std::int64_t number);

// Bytes that the elements take in a file; nullopt for text and beyond 2^63-1.
std::optional<std::uint64_t> file_size(ElementType type, std::int64_t elements);

// Takes the data out of `proto`: where a file holds elements as memory does, the tensor keeps the
// parsed bytes, or the mapped file, instead of a copy. Throws FormatError, kind "invalid" where
// data and shape do not fit, and what ExternalFiles throws.
Tensor take_tensor(onnx::TensorProto& proto, ExternalFiles& files);
SparseTensor take_sparse_tensor(onnx::SparseTensorProto& proto, ExternalFiles& files);

// Adds type, shape and elements; text goes to string_data, all else to raw_data.
void put_tensor(const Tensor& tensor, onnx::TensorProto& proto);
void put_sparse_tensor(const SparseTensor& tensor, onnx::SparseTensorProto& proto);

}  // namespace assay

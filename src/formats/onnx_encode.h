// From the model to ONNX messages.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "graph/graph.h"

namespace onnx {
class ModelProto;
class TensorProto;
}  // namespace onnx

namespace assay {

// Collects tensors that lie beside a model.
class ExternalWriter {
 public:
  ExternalWriter(std::ostream& stream, std::string location)
      : stream_(stream), location_(std::move(location)) {}
  // Writes the elements if they are worth it; false if they belong inside the model.
  bool put(const Tensor& tensor, onnx::TensorProto& proto);

 private:
  std::ostream& stream_;
  std::string location_;
  std::uint64_t position_ = 0;
};

// With a writer, large initializers go to it.
void encode_model(const Model& model, ExternalWriter* external, onnx::ModelProto& proto);

}  // namespace assay

// From decoded ONNX messages to the model, part by part.
#pragma once

#include <string>
#include <vector>

#include "formats/external_data.h"
#include "graph/graph.h"

namespace onnx {
class AttributeProto;
class FunctionProto;
class GraphProto;
class ModelProto;
class NodeProto;
class ValueInfoProto;
}  // namespace onnx

namespace assay {

// Takes names and weights out of the messages that it is given. Throws FormatError.
class OnnxDecoder {
 public:
  explicit OnnxDecoder(ExternalFiles& files) : files_(files) {}
  Model model(onnx::ModelProto& proto);

 private:
  Graph graph(onnx::GraphProto& proto);
  Node node(onnx::NodeProto& proto, std::size_t position);
  Attribute attribute(onnx::AttributeProto& proto);
  AttributeValue attribute_value(onnx::AttributeProto& proto, int kind);
  AttributeValue attribute_list(onnx::AttributeProto& proto, int kind);
  std::shared_ptr<const Graph> subgraph(const std::string& attribute, onnx::GraphProto& proto);
  NamedType named_type(onnx::ValueInfoProto& proto);
  Function function(onnx::FunctionProto& proto);
  void initializers(onnx::GraphProto& proto, Graph& graph);
  std::string name(std::string* text, const char* what) const;
  template <class Strings>
  std::vector<std::string> names(Strings* texts, const char* what) const;
  [[noreturn]] void fail(const std::string& reason) const;
  template <class F>
  auto within(const std::string& part, F&& body);

  ExternalFiles& files_;
  std::vector<std::string> path_;  // of nodes and attributes, to the one at hand
};

}  // namespace assay

#include "formats/onnx_decode.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "formats/failure.h"
#include "formats/onnx_tensor.h"
#include "formats/onnx_type.h"
#include "generated/onnx.pb.h"
#include "graph/names.h"

namespace assay {
namespace {

using onnx::AttributeProto;

template <class Entries>
Properties to_properties(const Entries& entries) {
  Properties properties;
  for (const auto& entry : entries) {
    properties.emplace_back(to_utf8(entry.key()), to_utf8(entry.value()));
  }
  return properties;
}

std::string plain_domain(const std::string& domain) {
  return domain == "ai.onnx" ? std::string() : domain;
}

// The oldest files do not say which field holds an attribute's value: the one that is there does.
int kind_of(const AttributeProto& proto) {
  if (proto.type() != AttributeProto::UNDEFINED) return proto.type();
  if (proto.has_f()) return AttributeProto::FLOAT;
  if (proto.has_i()) return AttributeProto::INT;
  if (proto.has_s()) return AttributeProto::STRING;
  if (proto.has_t()) return AttributeProto::TENSOR;
  if (proto.has_g()) return AttributeProto::GRAPH;
  if (proto.has_tp()) return AttributeProto::TYPE_PROTO;
  if (proto.has_sparse_tensor()) return AttributeProto::SPARSE_TENSOR;
  if (proto.floats_size() > 0) return AttributeProto::FLOATS;
  if (proto.strings_size() > 0) return AttributeProto::STRINGS;
  if (proto.tensors_size() > 0) return AttributeProto::TENSORS;
  if (proto.graphs_size() > 0) return AttributeProto::GRAPHS;
  if (proto.type_protos_size() > 0) return AttributeProto::TYPE_PROTOS;
  if (proto.sparse_tensors_size() > 0) return AttributeProto::SPARSE_TENSORS;
  return AttributeProto::INTS;
}

int used_fields(const AttributeProto& proto) {
  return proto.has_f() + proto.has_i() + proto.has_s() + proto.has_t() + proto.has_g() +
         proto.has_tp() + proto.has_sparse_tensor() + (proto.floats_size() > 0) +
         (proto.ints_size() > 0) + (proto.strings_size() > 0) + (proto.tensors_size() > 0) +
         (proto.graphs_size() > 0) + (proto.type_protos_size() > 0) +
         (proto.sparse_tensors_size() > 0);
}

bool has_value(const AttributeProto& proto, int kind) {
  switch (kind) {
    case AttributeProto::FLOAT:
      return proto.has_f();
    case AttributeProto::INT:
      return proto.has_i();
    case AttributeProto::STRING:
      return proto.has_s();
    case AttributeProto::TENSOR:
      return proto.has_t();
    case AttributeProto::GRAPH:
      return proto.has_g();
    case AttributeProto::TYPE_PROTO:
      return proto.has_tp();
    case AttributeProto::SPARSE_TENSOR:
      return proto.has_sparse_tensor();
    case AttributeProto::FLOATS:
      return proto.floats_size() > 0;
    case AttributeProto::INTS:
      return proto.ints_size() > 0;
    case AttributeProto::STRINGS:
      return proto.strings_size() > 0;
    case AttributeProto::TENSORS:
      return proto.tensors_size() > 0;
    case AttributeProto::GRAPHS:
      return proto.graphs_size() > 0;
    case AttributeProto::TYPE_PROTOS:
      return proto.type_protos_size() > 0;
    case AttributeProto::SPARSE_TENSORS:
      return proto.sparse_tensors_size() > 0;
    default:
      return false;
  }
}

// Writers that leave out what is zero may leave out these; a missing tensor or graph is an error.
bool may_be_left_out(int kind) {
  return kind != AttributeProto::TENSOR && kind != AttributeProto::GRAPH &&
         kind != AttributeProto::TYPE_PROTO && kind != AttributeProto::SPARSE_TENSOR;
}

template <class Imports>
std::map<std::string, std::int64_t> to_opsets(const Imports& imports) {
  std::map<std::string, std::int64_t> opsets;
  for (const auto& import : imports) {
    const std::int64_t version = import.version();
    if (version < 1 || version > std::numeric_limits<int>::max() || !is_utf8(import.domain())) {
      throw FormatError("invalid", fmt::format("the opset import of domain {} has version {}",
                                               in_quotes(import.domain()), version));
    }
    std::int64_t& known = opsets[plain_domain(import.domain())];
    known = std::max(known, version);
  }
  return opsets;
}

}  // namespace

void OnnxDecoder::fail(const std::string& reason) const {
  const std::string node =
      path_.empty() ? "" : "node " + in_quotes(fmt::format("{}", fmt::join(path_, "/"))) + ": ";
  throw FormatError("invalid", node + reason);
}

// Names the node in what `body` throws. Tensors and types know their own names only.
template <class F>
auto OnnxDecoder::within(const std::string& part, F&& body) {
  try {
    return body();
  } catch (const FormatError& error) {
    const std::string node =
        path_.empty() ? "" : "node " + in_quotes(fmt::format("{}", fmt::join(path_, "/"))) + ", ";
    throw FormatError(error.kind(), node + part + ": " + error.what());
  }
}

std::string OnnxDecoder::name(std::string* text, const char* what) const {
  if (!is_utf8(*text)) fail(fmt::format("the {} {} is not UTF-8", what, in_quotes(*text)));
  return std::move(*text);
}

template <class Strings>
std::vector<std::string> OnnxDecoder::names(Strings* texts, const char* what) const {
  std::vector<std::string> result;
  result.reserve(static_cast<std::size_t>(texts->size()));
  for (std::string& text : *texts) result.push_back(name(&text, what));
  return result;
}

NamedType OnnxDecoder::named_type(onnx::ValueInfoProto& proto) {
  NamedType value;
  value.name = name(proto.mutable_name(), "name");
  value.type =
      within("value " + in_quotes(value.name), [&] { return to_value_type(proto.type()); });
  value.doc = to_utf8(proto.doc_string());
  value.metadata = to_properties(proto.metadata_props());
  return value;
}

std::shared_ptr<const Graph> OnnxDecoder::subgraph(const std::string& attribute,
                                                   onnx::GraphProto& proto) {
  path_.push_back(printable(attribute));
  auto result = std::make_shared<const Graph>(graph(proto));
  path_.pop_back();
  return result;
}

static std::shared_ptr<const AttributeNotes> notes_of(const AttributeProto& proto, int kind) {
  AttributeNotes notes{to_utf8(proto.doc_string()), {}};
  if (kind == AttributeProto::TENSOR) notes.tensor_name = to_utf8(proto.t().name());
  if (notes.doc.empty() && notes.tensor_name.empty()) return nullptr;
  return std::make_shared<const AttributeNotes>(std::move(notes));
}

Attribute OnnxDecoder::attribute(AttributeProto& proto) {
  Attribute result;
  result.name = name(proto.mutable_name(), "attribute name");
  const int kind = kind_of(proto);
  result.notes = notes_of(proto, kind);
  const std::string shown = "attribute " + in_quotes(result.name);
  if (proto.has_ref_attr_name() && !proto.ref_attr_name().empty()) {
    if (used_fields(proto) > 0) fail(shown + " has a value and refers to another");
    result.value = AttributeReference{name(proto.mutable_ref_attr_name(), "attribute name"), kind};
    return result;
  }
  const int used = used_fields(proto);
  if (used > 1) fail(shown + " has more than one value");
  if (!has_value(proto, kind) && (used == 1 || !may_be_left_out(kind))) {
    fail(shown + " has no value of the type that it names");
  }
  if (kind == AttributeProto::GRAPH) {
    result.value = subgraph(result.name, *proto.mutable_g());
  } else if (kind == AttributeProto::GRAPHS) {
    std::vector<std::shared_ptr<const Graph>> graphs;
    for (auto& graph : *proto.mutable_graphs()) graphs.push_back(subgraph(result.name, graph));
    result.value = std::move(graphs);
  } else {
    result.value = within(shown, [&] { return attribute_value(proto, kind); });
  }
  return result;
}

AttributeValue OnnxDecoder::attribute_value(AttributeProto& proto, int kind) {
  switch (kind) {
    case AttributeProto::FLOAT:
      return static_cast<double>(proto.f());
    case AttributeProto::INT:
      return std::int64_t{proto.i()};
    case AttributeProto::STRING:
      return std::move(*proto.mutable_s());
    case AttributeProto::TENSOR:
      return take_tensor(*proto.mutable_t(), files_);
    case AttributeProto::TYPE_PROTO:
      return to_value_type(proto.tp());
    case AttributeProto::SPARSE_TENSOR:
      return std::make_shared<const SparseTensor>(
          take_sparse_tensor(*proto.mutable_sparse_tensor(), files_));
    default:
      return attribute_list(proto, kind);
  }
}

AttributeValue OnnxDecoder::attribute_list(AttributeProto& proto, int kind) {
  switch (kind) {
    case AttributeProto::FLOATS:
      return std::vector<double>(proto.floats().begin(), proto.floats().end());
    case AttributeProto::STRINGS: {
      std::vector<std::string> texts;
      for (std::string& text : *proto.mutable_strings()) texts.push_back(std::move(text));
      return texts;
    }
    case AttributeProto::TENSORS: {
      std::vector<Tensor> tensors;
      for (auto& tensor : *proto.mutable_tensors()) tensors.push_back(take_tensor(tensor, files_));
      return tensors;
    }
    case AttributeProto::TYPE_PROTOS: {
      std::vector<ValueType> types;
      for (const auto& type : proto.type_protos()) types.push_back(to_value_type(type));
      return types;
    }
    case AttributeProto::SPARSE_TENSORS: {
      std::vector<SparseTensor> tensors;
      for (auto& tensor : *proto.mutable_sparse_tensors()) {
        tensors.push_back(take_sparse_tensor(tensor, files_));
      }
      return tensors;
    }
    default:
      return std::vector<std::int64_t>(proto.ints().begin(), proto.ints().end());
  }
}

Node OnnxDecoder::node(onnx::NodeProto& proto, std::size_t position) {
  Node result;
  result.op = name(proto.mutable_op_type(), "operator");
  result.domain = plain_domain(name(proto.mutable_domain(), "domain"));
  result.overload = name(proto.mutable_overload(), "overload");
  result.name = name(proto.mutable_name(), "node name");
  result.inputs = names(proto.mutable_input(), "input");
  result.outputs = names(proto.mutable_output(), "output");
  result.doc = to_utf8(proto.doc_string());
  result.metadata = to_properties(proto.metadata_props());
  for (const auto& configuration : proto.device_configurations()) {
    result.device_configurations.push_back(configuration.SerializeAsString());
  }
  path_.push_back(printable(display_name(result, position)));
  for (auto& attribute_proto : *proto.mutable_attribute()) {
    result.attributes.push_back(attribute(attribute_proto));
  }
  path_.pop_back();
  return result;
}

void OnnxDecoder::initializers(onnx::GraphProto& proto, Graph& graph) {
  for (auto& tensor : *proto.mutable_initializer()) {
    NamedTensor named;
    named.tensor = within("initializer", [&] { return take_tensor(tensor, files_); });
    named.name = name(tensor.mutable_name(), "initializer name");
    named.doc = to_utf8(tensor.doc_string());
    named.metadata = to_properties(tensor.metadata_props());
    graph.initializers.push_back(std::move(named));
  }
  for (auto& tensor : *proto.mutable_sparse_initializer()) {
    SparseTensor sparse =
        within("sparse initializer", [&] { return take_sparse_tensor(tensor, files_); });
    graph.sparse_initializers.emplace_back(
        name(tensor.mutable_values()->mutable_name(), "initializer name"), std::move(sparse));
  }
}

Graph OnnxDecoder::graph(onnx::GraphProto& proto) {
  Graph result;
  result.name = name(proto.mutable_name(), "graph name");
  result.doc = to_utf8(proto.doc_string());
  result.metadata = to_properties(proto.metadata_props());
  for (auto& value : *proto.mutable_input()) result.inputs.push_back(named_type(value));
  for (auto& value : *proto.mutable_output()) result.outputs.push_back(named_type(value));
  for (auto& value : *proto.mutable_value_info()) result.value_info.push_back(named_type(value));
  initializers(proto, result);
  for (auto& annotation : *proto.mutable_quantization_annotation()) {
    result.quantization.emplace_back(name(annotation.mutable_tensor_name(), "tensor name"),
                                     to_properties(annotation.quant_parameter_tensor_names()));
  }
  result.nodes.reserve(static_cast<std::size_t>(proto.node_size()));
  for (auto& node_proto : *proto.mutable_node()) {
    result.nodes.push_back(node(node_proto, result.nodes.size()));
  }
  return result;
}

Function OnnxDecoder::function(onnx::FunctionProto& proto) {
  Function result;
  result.domain = plain_domain(name(proto.mutable_domain(), "domain"));
  result.name = name(proto.mutable_name(), "function name");
  result.overload = name(proto.mutable_overload(), "overload");
  path_.push_back(printable(result.name));
  result.inputs = names(proto.mutable_input(), "input");
  result.outputs = names(proto.mutable_output(), "output");
  result.attributes = names(proto.mutable_attribute(), "attribute name");
  for (auto& attribute_proto : *proto.mutable_attribute_proto()) {
    result.attribute_defaults.push_back(attribute(attribute_proto));
  }
  for (auto& node_proto : *proto.mutable_node()) {
    result.nodes.push_back(node(node_proto, result.nodes.size()));
  }
  for (auto& value : *proto.mutable_value_info()) result.value_info.push_back(named_type(value));
  result.opsets = within("function", [&] { return to_opsets(proto.opset_import()); });
  result.doc = to_utf8(proto.doc_string());
  result.metadata = to_properties(proto.metadata_props());
  path_.pop_back();
  return result;
}

Model OnnxDecoder::model(onnx::ModelProto& proto) {
  Model result;
  result.ir_version = proto.ir_version();
  result.opsets = to_opsets(proto.opset_import());
  result.producer = to_utf8(proto.producer_name());
  result.producer_version = to_utf8(proto.producer_version());
  result.domain = to_utf8(proto.domain());
  result.doc = to_utf8(proto.doc_string());
  result.model_version = proto.model_version();
  result.metadata = to_properties(proto.metadata_props());
  for (const auto& training : proto.training_info()) {
    result.training.push_back(training.SerializeAsString());
  }
  for (const auto& configuration : proto.configuration()) {
    result.device_configurations.push_back(configuration.SerializeAsString());
  }
  result.graph = graph(*proto.mutable_graph());
  for (auto& function_proto : *proto.mutable_functions()) {
    result.functions.push_back(function(function_proto));
  }
  return result;
}

}  // namespace assay

#include "formats/onnx_encode.h"

#include "formats/onnx_tensor.h"
#include "formats/onnx_type.h"
#include "generated/onnx.pb.h"

namespace assay {
namespace {

using onnx::AttributeProto;

constexpr std::int64_t kFirstIrWithOpsets = 3;
constexpr std::uint64_t kPage = 4096;  // an offset that can be mapped on its own

class Encoder {
 public:
  explicit Encoder(ExternalWriter* external) : external_(external) {}
  void model(const Model& model, onnx::ModelProto& proto);

 private:
  void graph(const Graph& graph, onnx::GraphProto& proto);
  void node(const Node& node, onnx::NodeProto& proto);
  void attribute(const Attribute& attribute, AttributeProto& proto);
  void function(const Function& function, onnx::FunctionProto& proto);

  ExternalWriter* external_;
};

// An empty text is not written: the standard takes a missing one for it.
#define ASSAY_PUT(proto, field, text) \
  if (!(text).empty()) (proto).set_##field(text)

template <class Entries>
void put_properties(const Properties& properties, Entries* entries) {
  for (const auto& [key, value] : properties) {
    auto& entry = *entries->Add();
    entry.set_key(key);
    entry.set_value(value);
  }
}

template <class Imports>
void put_opsets(const std::map<std::string, std::int64_t>& opsets, Imports* imports) {
  for (const auto& [domain, version] : opsets) {
    auto& import = *imports->Add();
    import.set_domain(domain);
    import.set_version(version);
  }
}

void put_named_type(const NamedType& value, onnx::ValueInfoProto& proto) {
  ASSAY_PUT(proto, name, value.name);
  const bool typed = value.type.kind != ValueType::Kind::unknown || value.type.notes;
  if (typed) put_type(value.type, *proto.mutable_type());
  ASSAY_PUT(proto, doc_string, value.doc);
  put_properties(value.metadata, proto.mutable_metadata_props());
}

// The setter of each kind of attribute value; graphs need the encoder.
struct AttributeWriter {
  AttributeProto& proto;

  void operator()(std::int64_t value) const {
    proto.set_type(AttributeProto::INT);
    proto.set_i(value);
  }
  void operator()(double value) const {
    proto.set_type(AttributeProto::FLOAT);
    proto.set_f(static_cast<float>(value));
  }
  void operator()(const std::string& value) const {
    proto.set_type(AttributeProto::STRING);
    proto.set_s(value);
  }
  void operator()(const Tensor& value) const {
    proto.set_type(AttributeProto::TENSOR);
    put_tensor(value, *proto.mutable_t());
  }
  void operator()(const ValueType& value) const {
    proto.set_type(AttributeProto::TYPE_PROTO);
    put_type(value, *proto.mutable_tp());
  }
  void operator()(const std::shared_ptr<const SparseTensor>& value) const {
    proto.set_type(AttributeProto::SPARSE_TENSOR);
    put_sparse_tensor(*value, *proto.mutable_sparse_tensor());
  }
  void operator()(const std::vector<std::int64_t>& values) const {
    proto.set_type(AttributeProto::INTS);
    for (const std::int64_t value : values) proto.add_ints(value);
  }
  void operator()(const std::vector<double>& values) const {
    proto.set_type(AttributeProto::FLOATS);
    for (const double value : values) proto.add_floats(static_cast<float>(value));
  }
  void operator()(const std::vector<std::string>& values) const {
    proto.set_type(AttributeProto::STRINGS);
    for (const std::string& value : values) proto.add_strings(value);
  }
  void operator()(const std::vector<Tensor>& values) const {
    proto.set_type(AttributeProto::TENSORS);
    for (const Tensor& value : values) put_tensor(value, *proto.add_tensors());
  }
  void operator()(const std::vector<ValueType>& values) const {
    proto.set_type(AttributeProto::TYPE_PROTOS);
    for (const ValueType& value : values) put_type(value, *proto.add_type_protos());
  }
  void operator()(const std::vector<SparseTensor>& values) const {
    proto.set_type(AttributeProto::SPARSE_TENSORS);
    for (const SparseTensor& value : values) put_sparse_tensor(value, *proto.add_sparse_tensors());
  }
  void operator()(const AttributeReference& value) const {
    proto.set_type(static_cast<AttributeProto::AttributeType>(value.kind));
    proto.set_ref_attr_name(value.name);
  }
  void operator()(const std::shared_ptr<const Graph>&) const {
    proto.set_type(AttributeProto::GRAPH);
  }
  void operator()(const std::vector<std::shared_ptr<const Graph>>&) const {
    proto.set_type(AttributeProto::GRAPHS);
  }
};

void Encoder::attribute(const Attribute& attribute, AttributeProto& proto) {
  proto.set_name(attribute.name);
  if (attribute.notes) ASSAY_PUT(proto, doc_string, attribute.notes->doc);
  std::visit(AttributeWriter{proto}, attribute.value);
  if (const auto* one = std::get_if<std::shared_ptr<const Graph>>(&attribute.value)) {
    ASSAY_CHECK(*one != nullptr);
    graph(**one, *proto.mutable_g());
  }
  if (const auto* many = std::get_if<std::vector<std::shared_ptr<const Graph>>>(&attribute.value)) {
    for (const auto& inner : *many) graph(*inner, *proto.add_graphs());
  }
  if (proto.has_t() && attribute.notes) {
    ASSAY_PUT(*proto.mutable_t(), name, attribute.notes->tensor_name);
  }
}

void Encoder::node(const Node& node, onnx::NodeProto& proto) {
  for (const std::string& name : node.inputs) proto.add_input(name);
  for (const std::string& name : node.outputs) proto.add_output(name);
  ASSAY_PUT(proto, name, node.name);
  ASSAY_PUT(proto, op_type, node.op);
  ASSAY_PUT(proto, domain, node.domain);
  ASSAY_PUT(proto, overload, node.overload);
  ASSAY_PUT(proto, doc_string, node.doc);
  for (const Attribute& value : node.attributes) attribute(value, *proto.add_attribute());
  put_properties(node.metadata, proto.mutable_metadata_props());
  for (const std::string& bytes : node.device_configurations) {
    proto.add_device_configurations()->ParseFromString(bytes);
  }
}

void Encoder::graph(const Graph& graph, onnx::GraphProto& proto) {
  // A graph must have a name, so one that was made without gets one.
  proto.set_name(graph.name.empty() ? "graph" : graph.name);
  for (const Node& value : graph.nodes) node(value, *proto.add_node());
  for (const NamedTensor& value : graph.initializers) {
    auto& tensor = *proto.add_initializer();
    tensor.set_name(value.name);
    if (external_ == nullptr || !external_->put(value.tensor, tensor)) {
      put_tensor(value.tensor, tensor);
    }
    ASSAY_PUT(tensor, doc_string, value.doc);
    put_properties(value.metadata, tensor.mutable_metadata_props());
  }
  for (const auto& [name, value] : graph.sparse_initializers) {
    auto& tensor = *proto.add_sparse_initializer();
    put_sparse_tensor(value, tensor);
    tensor.mutable_values()->set_name(name);
  }
  ASSAY_PUT(proto, doc_string, graph.doc);
  for (const NamedType& value : graph.inputs) put_named_type(value, *proto.add_input());
  for (const NamedType& value : graph.outputs) put_named_type(value, *proto.add_output());
  for (const NamedType& value : graph.value_info) put_named_type(value, *proto.add_value_info());
  for (const auto& [name, parameters] : graph.quantization) {
    auto& annotation = *proto.add_quantization_annotation();
    annotation.set_tensor_name(name);
    put_properties(parameters, annotation.mutable_quant_parameter_tensor_names());
  }
  put_properties(graph.metadata, proto.mutable_metadata_props());
}

void Encoder::function(const Function& function, onnx::FunctionProto& proto) {
  proto.set_name(function.name);
  proto.set_domain(function.domain);
  ASSAY_PUT(proto, overload, function.overload);
  for (const std::string& name : function.inputs) proto.add_input(name);
  for (const std::string& name : function.outputs) proto.add_output(name);
  for (const std::string& name : function.attributes) proto.add_attribute(name);
  for (const Attribute& value : function.attribute_defaults) {
    attribute(value, *proto.add_attribute_proto());
  }
  for (const Node& value : function.nodes) node(value, *proto.add_node());
  for (const NamedType& value : function.value_info) {
    put_named_type(value, *proto.add_value_info());
  }
  put_opsets(function.opsets, proto.mutable_opset_import());
  ASSAY_PUT(proto, doc_string, function.doc);
  put_properties(function.metadata, proto.mutable_metadata_props());
}

void Encoder::model(const Model& model, onnx::ModelProto& proto) {
  proto.set_ir_version(model.ir_version);
  if (model.ir_version >= kFirstIrWithOpsets) {
    put_opsets(model.opsets, proto.mutable_opset_import());
  }
  ASSAY_PUT(proto, producer_name, model.producer);
  ASSAY_PUT(proto, producer_version, model.producer_version);
  ASSAY_PUT(proto, domain, model.domain);
  ASSAY_PUT(proto, doc_string, model.doc);
  if (model.model_version != 0) proto.set_model_version(model.model_version);
  graph(model.graph, *proto.mutable_graph());
  for (const Function& value : model.functions) function(value, *proto.add_functions());
  put_properties(model.metadata, proto.mutable_metadata_props());
  for (const std::string& bytes : model.training) {
    proto.add_training_info()->ParseFromString(bytes);
  }
  for (const std::string& bytes : model.device_configurations) {
    proto.add_configuration()->ParseFromString(bytes);
  }
}

#undef ASSAY_PUT

}  // namespace

bool ExternalWriter::put(const Tensor& tensor, onnx::TensorProto& proto) {
  constexpr std::uint64_t kSmallest = 1024;
  const auto size = file_size(tensor.type(), tensor.size());
  if (!size || *size < kSmallest) return false;
  const std::string padding((kPage - position_ % kPage) % kPage, '\0');
  stream_ << padding << to_file_bytes(tensor);
  position_ += padding.size();
  proto.set_data_type(static_cast<int>(tensor.type()));
  for (const std::int64_t extent : tensor.shape()) proto.add_dims(extent);
  proto.set_data_location(onnx::TensorProto::EXTERNAL);
  const auto add = [&](const char* key, std::string value) {
    auto& entry = *proto.add_external_data();
    entry.set_key(key);
    entry.set_value(std::move(value));
  };
  add("location", location_);
  add("offset", std::to_string(position_));
  add("length", std::to_string(*size));
  position_ += *size;
  return true;
}

void encode_model(const Model& model, ExternalWriter* external, onnx::ModelProto& proto) {
  Encoder(external).model(model, proto);
}

}  // namespace assay

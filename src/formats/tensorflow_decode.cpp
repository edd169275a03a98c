#include "formats/tensorflow_decode.h"

#include <algorithm>

#include <fmt/format.h>

#include "formats/failure.h"
#include "generated/tensorflow.pb.h"
#include "graph/names.h"

namespace assay {
namespace {

namespace wire = tensorflow_wire;

constexpr int kFirstReference = 101;
constexpr int kReference = 100;  // beyond the type that is referred to

std::string text(std::string* bytes, const char* what) {
  if (!is_utf8(*bytes)) {
    throw FormatError("invalid", fmt::format("the {} {} is not UTF-8", what, in_quotes(*bytes)));
  }
  return std::move(*bytes);
}

// A shape without an element type; of unknown rank: without extents.
ValueType to_shape_type(const wire::TensorShapeProto& proto) {
  ValueType type = ValueType::tensor(ElementType::undefined);
  if (proto.unknown_rank()) return type;
  type.dims.emplace();
  for (const auto& dim : proto.dim()) {
    type.dims->push_back(dim.size() < 0 ? Dim() : Dim(dim.size()));
  }
  return type;
}

Shape to_extents(const wire::TensorShapeProto& proto) {
  Shape shape;
  for (const auto& dim : proto.dim()) shape.push_back(dim.size());
  if (proto.unknown_rank() || !checked_element_count(shape)) {
    throw FormatError("invalid", fmt::format("a tensor has the shape {}", to_text(shape)));
  }
  return shape;
}

// A list that is shorter than the tensor goes on with its last value, an empty one with zeros.
template <class T, class Values, class Convert>
Tensor fill(ElementType type, Shape shape, const Values& values, Convert&& convert) {
  Tensor tensor(type, std::move(shape));
  const auto given = static_cast<std::int64_t>(values.size());
  if (given > tensor.size()) {
    throw FormatError("invalid", fmt::format("a tensor of shape {} has {} values",
                                             to_text(tensor.shape()), given));
  }
  if (given == 0) return tensor;
  std::span<T> elements = tensor.mutate<T>();
  const auto end = std::transform(values.begin(), values.end(), elements.begin(), convert);
  std::fill(end, elements.end(), *std::prev(end));
  return tensor;
}

template <class T, class Values>
Tensor fill(ElementType type, Shape shape, const Values& values) {
  return fill<T>(type, std::move(shape), values, [](auto value) { return static_cast<T>(value); });
}

template <class T, class Values>
Tensor fill_complex(ElementType type, Shape shape, const Values& values) {
  std::vector<std::complex<T>> pairs;
  for (int i = 0; i + 1 < values.size(); i += 2) pairs.emplace_back(values[i], values[i + 1]);
  return fill<std::complex<T>>(type, std::move(shape), pairs);
}

Tensor fill_halves(ElementType type, Shape shape, const wire::TensorProto& proto) {
  return fill<float>(type, std::move(shape), proto.half_val(), [type](std::int32_t bits) {
    return static_cast<float>(from_bits(type, static_cast<std::uint16_t>(bits)));
  });
}

Tensor fill_integers(ElementType type, Shape shape, const wire::TensorProto& proto) {
  switch (type) {
    case ElementType::i64:
      return fill<std::int64_t>(type, std::move(shape), proto.int64_val());
    case ElementType::u32:
      return fill<std::uint32_t>(type, std::move(shape), proto.uint32_val());
    case ElementType::u64:
      return fill<std::uint64_t>(type, std::move(shape), proto.uint64_val());
    default:
      break;
  }
  const std::vector<std::int64_t> values(proto.int_val().begin(), proto.int_val().end());
  return visit_storage(type, [&]<class T>(T*) -> Tensor {
    if constexpr (std::is_integral_v<T>) return fill<T>(type, std::move(shape), values);
    throw FormatError("invalid", "a tensor has a type without values");
  });
}

Tensor fill_listed(ElementType type, Shape shape, const wire::TensorProto& proto) {
  switch (type) {
    case ElementType::f32:
      return fill<float>(type, std::move(shape), proto.float_val());
    case ElementType::f64:
      return fill<double>(type, std::move(shape), proto.double_val());
    case ElementType::f16:
    case ElementType::bf16:
      return fill_halves(type, std::move(shape), proto);
    case ElementType::boolean:
      return fill<bool>(type, std::move(shape), proto.bool_val());
    case ElementType::string:
      return fill<std::string>(type, std::move(shape), proto.string_val());
    case ElementType::c64:
      return fill_complex<float>(type, std::move(shape), proto.scomplex_val());
    case ElementType::c128:
      return fill_complex<double>(type, std::move(shape), proto.dcomplex_val());
    default:
      return fill_integers(type, std::move(shape), proto);
  }
}

AttributeValue to_list(const wire::AttrValue::ListValue& list) {
  if (list.s_size() > 0) return std::vector<std::string>(list.s().begin(), list.s().end());
  if (list.f_size() > 0) return std::vector<double>(list.f().begin(), list.f().end());
  if (list.shape_size() > 0) {
    std::vector<ValueType> shapes;
    for (const auto& shape : list.shape()) shapes.push_back(to_shape_type(shape));
    return shapes;
  }
  if (list.tensor_size() > 0) {
    std::vector<Tensor> tensors;
    for (const auto& tensor : list.tensor()) tensors.push_back(to_tensor(tensor));
    return tensors;
  }
  if (list.func_size() > 0) {
    std::vector<std::string> names;
    for (const auto& function : list.func()) names.push_back(to_utf8(function.name()));
    return names;
  }
  std::vector<std::int64_t> integers(list.i().begin(), list.i().end());
  for (const bool flag : list.b()) integers.push_back(flag ? 1 : 0);
  for (const int type : list.type()) {
    integers.push_back(static_cast<std::int64_t>(element_type_of(type)));
  }
  return integers;
}

AttributeValue to_value(wire::AttrValue& proto) {
  switch (proto.value_case()) {
    case wire::AttrValue::kS:
      return std::move(*proto.mutable_s());
    case wire::AttrValue::kI:
      return std::int64_t{proto.i()};
    case wire::AttrValue::kF:
      return static_cast<double>(proto.f());
    case wire::AttrValue::kB:
      return std::int64_t{proto.b() ? 1 : 0};
    case wire::AttrValue::kType:
      return static_cast<std::int64_t>(element_type_of(proto.type()));
    case wire::AttrValue::kShape:
      return to_shape_type(proto.shape());
    case wire::AttrValue::kTensor:
      return to_tensor(proto.tensor());
    case wire::AttrValue::kFunc:
      return to_utf8(proto.func().name());
    case wire::AttrValue::kPlaceholder:
      return AttributeReference{to_utf8(proto.placeholder()), 0};
    default:
      return to_list(proto.list());
  }
}

}  // namespace

tensorflow::NodeDef to_node(wire::NodeDef& proto) {
  tensorflow::NodeDef node;
  node.name = text(proto.mutable_name(), "node name");
  node.op = text(proto.mutable_op(), "operator");
  for (std::string& input : *proto.mutable_input()) node.inputs.push_back(text(&input, "input"));
  for (auto& entry : *proto.mutable_attr()) {
    const std::string name = text(entry.mutable_key(), "attribute name");
    try {
      node.attributes.push_back({name, to_value(*entry.mutable_value())});
    } catch (const FormatError& error) {
      throw FormatError(error.kind(), fmt::format("node {}, attribute {}: {}", in_quotes(node.name),
                                                  in_quotes(name), error.what()));
    }
  }
  return node;
}

static tensorflow::FunctionDef to_function(wire::FunctionDef& proto) {
  tensorflow::FunctionDef function;
  function.name = text(proto.mutable_signature()->mutable_name(), "function name");
  for (auto& input : *proto.mutable_signature()->mutable_input_arg()) {
    function.inputs.push_back(text(input.mutable_name(), "argument"));
  }
  for (auto& output : *proto.mutable_signature()->mutable_output_arg()) {
    function.outputs.push_back(text(output.mutable_name(), "result"));
    const auto returned =
        std::find_if(proto.ret().begin(), proto.ret().end(),
                     [&](const auto& entry) { return entry.key() == function.outputs.back(); });
    function.returns.push_back(returned == proto.ret().end() ? "" : to_utf8(returned->value()));
  }
  for (auto& node : *proto.mutable_node_def()) function.nodes.push_back(to_node(node));
  return function;
}

ElementType element_type_of(int data_type) {
  static constexpr ElementType kTypes[] = {
      ElementType::undefined, ElementType::f32,        ElementType::f64,
      ElementType::i32,       ElementType::u8,         ElementType::i16,
      ElementType::i8,        ElementType::string,     ElementType::c64,
      ElementType::i64,       ElementType::boolean,    ElementType::i8,
      ElementType::u8,        ElementType::i32,        ElementType::bf16,
      ElementType::i16,       ElementType::u16,        ElementType::u16,
      ElementType::c128,      ElementType::f16,        ElementType::undefined,
      ElementType::undefined, ElementType::u32,        ElementType::u64,
      ElementType::f8e5m2,    ElementType::f8e4m3fn,   ElementType::f8e4m3fnuz,
      ElementType::undefined, ElementType::f8e5m2fnuz, ElementType::i4,
      ElementType::u4,        ElementType::i2,         ElementType::u2};
  if (data_type >= kFirstReference) data_type -= kReference;
  const bool known = data_type >= 0 && data_type < static_cast<int>(std::size(kTypes));
  return known ? kTypes[data_type] : ElementType::undefined;
}

Tensor to_tensor(const wire::TensorProto& proto) {
  const ElementType type = element_type_of(proto.dtype());
  if (type == ElementType::undefined) return {};  // a handle: it has no elements to speak of
  Shape shape = to_extents(proto.tensor_shape());
  if (proto.tensor_content().empty()) return fill_listed(type, std::move(shape), proto);
  if (type == ElementType::string) throw FormatError("invalid", "a text tensor lies in raw bytes");
  auto tensor = from_file_bytes(type, shape, proto.tensor_content());
  if (!tensor) {
    throw FormatError("invalid", fmt::format("a tensor {}{} has {} bytes", short_name(type),
                                             to_text(shape), proto.tensor_content().size()));
  }
  return *std::move(tensor);
}

tensorflow::GraphDef to_graph_def(wire::GraphDef& proto) {
  tensorflow::GraphDef graph;
  graph.nodes.reserve(static_cast<std::size_t>(proto.node_size()));
  for (auto& node : *proto.mutable_node()) graph.nodes.push_back(to_node(node));
  graph.functions = to_functions(*proto.mutable_library());
  return graph;
}

std::vector<tensorflow::FunctionDef> to_functions(wire::FunctionDefLibrary& proto) {
  std::vector<tensorflow::FunctionDef> functions;
  for (auto& function : *proto.mutable_function()) functions.push_back(to_function(function));
  return functions;
}

}  // namespace assay

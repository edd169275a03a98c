#include "formats/onnx_type.h"

#include <algorithm>

#include "formats/onnx_tensor.h"
#include "generated/onnx.pb.h"
#include "graph/names.h"

namespace assay {
namespace {

// Zero is what a file without an element type says.
ElementType element_or_undefined(std::int32_t number) {
  return number == 0 ? ElementType::undefined : element_type_from_number(number);
}

Dim to_dim(const onnx::TensorShapeProto::Dimension& proto) {
  if (proto.has_dim_value()) return proto.dim_value() < 0 ? Dim() : Dim(proto.dim_value());
  return Dim::named(to_utf8(proto.dim_param()));
}

template <class TensorTypeProto>
ValueType to_tensor_type(ValueType::Kind kind, const TensorTypeProto& proto) {
  ValueType type;
  type.kind = kind;
  type.element = element_or_undefined(proto.elem_type());
  if (!proto.has_shape()) return type;
  type.dims.emplace();
  for (const auto& dim : proto.shape().dim()) type.dims->push_back(to_dim(dim));
  return type;
}

template <class TensorTypeProto>
void put_tensor_type(const ValueType& type, TensorTypeProto& proto) {
  if (type.element != ElementType::undefined) proto.set_elem_type(static_cast<int>(type.element));
  if (!type.dims) return;
  auto& shape = *proto.mutable_shape();
  for (std::size_t i = 0; i < type.dims->size(); ++i) {
    const Dim& dim = (*type.dims)[i];
    auto& axis = *shape.add_dim();
    if (dim.known()) {
      axis.set_dim_value(dim.value);
    } else if (!dim.symbol.empty()) {
      axis.set_dim_param(dim.symbol.text());
    }
    if (type.notes && i < type.notes->axis_denotations.size() &&
        !type.notes->axis_denotations[i].empty()) {
      axis.set_denotation(type.notes->axis_denotations[i]);
    }
  }
}

std::string opaque_name(const onnx::TypeProto::Opaque& proto) {
  return to_utf8(proto.domain()) + "/" + to_utf8(proto.name());
}

void put_opaque(const std::string& opaque, onnx::TypeProto::Opaque& proto) {
  const std::size_t slash = std::min(opaque.rfind('/'), opaque.size() - 1);
  proto.set_domain(opaque.substr(0, slash));
  proto.set_name(opaque.substr(slash + 1));
}

std::vector<std::string> axis_denotations(const onnx::TensorShapeProto& shape) {
  std::vector<std::string> result;
  bool denoted = false;
  for (const auto& dim : shape.dim()) {
    result.push_back(to_utf8(dim.denotation()));
    denoted |= dim.has_denotation();
  }
  if (!denoted) result.clear();
  return result;
}

std::shared_ptr<const TypeNotes> to_notes(const onnx::TypeProto& proto) {
  TypeNotes notes;
  notes.denotation = to_utf8(proto.denotation());
  if (proto.has_tensor_type()) {
    notes.axis_denotations = axis_denotations(proto.tensor_type().shape());
  } else if (proto.has_sparse_tensor_type()) {
    notes.axis_denotations = axis_denotations(proto.sparse_tensor_type().shape());
  } else if (proto.has_opaque_type()) {
    notes.opaque = opaque_name(proto.opaque_type());
  }
  if (notes.denotation.empty() && notes.axis_denotations.empty() && notes.opaque.empty()) return {};
  return std::make_shared<const TypeNotes>(std::move(notes));
}

ValueType without_notes(const onnx::TypeProto& proto) {
  using Kind = ValueType::Kind;
  switch (proto.value_case()) {
    case onnx::TypeProto::kTensorType:
      return to_tensor_type(Kind::tensor, proto.tensor_type());
    case onnx::TypeProto::kSparseTensorType:
      return to_tensor_type(Kind::sparse_tensor, proto.sparse_tensor_type());
    case onnx::TypeProto::kSequenceType:
      return ValueType::sequence(to_value_type(proto.sequence_type().elem_type()));
    case onnx::TypeProto::kOptionalType:
      return ValueType::optional(to_value_type(proto.optional_type().elem_type()));
    case onnx::TypeProto::kMapType:
      return ValueType::map(element_or_undefined(proto.map_type().key_type()),
                            to_value_type(proto.map_type().value_type()));
    case onnx::TypeProto::kOpaqueType:
    case onnx::TypeProto::VALUE_NOT_SET:
      break;
  }
  return {};
}

}  // namespace

ValueType to_value_type(const onnx::TypeProto& proto) {
  ValueType type = without_notes(proto);
  type.notes = to_notes(proto);
  return type;
}

void put_type(const ValueType& type, onnx::TypeProto& proto) {
  if (type.notes && !type.notes->denotation.empty()) {
    proto.set_denotation(type.notes->denotation);
  }
  const auto put_inner = [&](onnx::TypeProto& inner) {
    if (type.inner) put_type(*type.inner, inner);
  };
  switch (type.kind) {
    case ValueType::Kind::unknown:
      if (type.notes && !type.notes->opaque.empty()) {
        put_opaque(type.notes->opaque, *proto.mutable_opaque_type());
      }
      return;
    case ValueType::Kind::tensor:
      return put_tensor_type(type, *proto.mutable_tensor_type());
    case ValueType::Kind::sparse_tensor:
      return put_tensor_type(type, *proto.mutable_sparse_tensor_type());
    case ValueType::Kind::sequence:
      return put_inner(*proto.mutable_sequence_type()->mutable_elem_type());
    case ValueType::Kind::optional:
      return put_inner(*proto.mutable_optional_type()->mutable_elem_type());
    case ValueType::Kind::map:
      proto.mutable_map_type()->set_key_type(static_cast<int>(type.element));
      return put_inner(*proto.mutable_map_type()->mutable_value_type());
  }
}

}  // namespace assay

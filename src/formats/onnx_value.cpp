#include "formats/onnx_value.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "formats/external_data.h"
#include "formats/failure.h"
#include "formats/onnx_tensor.h"
#include "formats/wire.h"
#include "generated/onnx.pb.h"

namespace assay {
namespace {

constexpr int kDeepest = 32;

// Field numbers of SequenceProto and OptionalProto, which are the same; of MapProto.
enum Held : std::uint32_t {
  kName = 1,
  kElementKind = 2,
  kTensors = 3,
  kSparse = 4,
  kSequences = 5,
  kMaps = 6,
  kOptionals = 7
};
enum Mapped : std::uint32_t { kKeyType = 2, kKeys = 3, kStringKeys = 4, kValues = 5 };
// SequenceProto.DataType and OptionalProto.DataType.
enum ElementKind : std::uint8_t {
  kNothing = 0,
  kTensor = 1,
  kSequence = 3,
  kMap = 4,
  kOptional = 5
};

[[noreturn]] void fail(const std::string& reason) { throw FormatError("unreadable", reason); }

template <class F>
void for_each_field(std::string_view bytes, F&& visit) {
  WireReader reader(bytes);
  while (const auto field = reader.next()) visit(*field);
  if (!reader.failure().empty()) {
    fail(fmt::format("not a whole test value: {} (byte {})", reader.failure(), reader.position()));
  }
}

ValueType inner_of(const ValueType& type) { return type.inner ? *type.inner : ValueType(); }

Value read_value(std::string_view bytes, const ValueType& type, int depth);

Value read_tensor(std::string_view bytes, const ValueType& type) {
  onnx::TensorProto proto;
  if (bytes.size() > std::numeric_limits<int>::max() ||
      !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      !proto.unknown_fields().empty()) {
    fail("not a TensorProto");
  }
  ExternalFiles none{{}};
  Tensor tensor = take_tensor(proto, none);
  if (type.is_tensor() && type.element != ElementType::undefined && type.element != tensor.type()) {
    throw FormatError("invalid", fmt::format("a {} tensor is expected, it is {}",
                                             short_name(type.element), short_name(tensor.type())));
  }
  return tensor;
}

// What the elements of a sequence are, for one without elements whose type nobody knows.
ValueType type_of_elements(const std::vector<Value>& elements) {
  if (elements.empty()) return {};
  ValueType type = elements[0].value_type();
  for (const Value& element : elements) {
    if (to_text(element.value_type()) != to_text(type)) type.dims.reset();
  }
  return type;
}

// The type of what a field of a sequence or an optional holds, which must be the expected one.
ValueType held_type(const WireField& field, const ValueType& expected) {
  using Kind = ValueType::Kind;
  if (field.type != WireType::bytes) fail(fmt::format("field {} is no message", field.number));
  ValueType type;
  switch (field.number) {
    case kTensors:
      type.kind = Kind::tensor;
      break;
    case kSparse:
      type.kind = Kind::sparse_tensor;
      break;
    case kSequences:
      type.kind = Kind::sequence;
      break;
    case kMaps:
      type.kind = Kind::map;
      break;
    case kOptionals:
      type.kind = Kind::optional;
      break;
    default:
      fail(fmt::format("there is no field {}", field.number));
  }
  if (expected.kind == Kind::unknown) return type;
  if (expected.kind != type.kind) {
    throw FormatError("invalid", fmt::format("a value of type {} is expected, there is one of {}",
                                             to_text(expected), to_text(type)));
  }
  return expected;
}

Value read_sequence(std::string_view bytes, const ValueType& type, int depth) {
  const ValueType inner = inner_of(type);
  std::vector<Value> elements;
  for_each_field(bytes, [&](const WireField& field) {
    if (field.number == kName || field.number == kElementKind) return;
    elements.push_back(read_value(field.bytes, held_type(field, inner), depth + 1));
  });
  ValueType known = inner.kind == ValueType::Kind::unknown ? type_of_elements(elements) : inner;
  return Value::sequence(std::move(known), std::move(elements));
}

Value read_optional(std::string_view bytes, const ValueType& type, int depth) {
  const ValueType inner = inner_of(type);
  std::optional<Value> element;
  for_each_field(bytes, [&](const WireField& field) {
    if (field.number == kName || field.number == kElementKind) return;
    element = read_value(field.bytes, held_type(field, inner), depth + 1);
  });
  return element ? Value::optional(*element) : Value::optional(inner);
}

// All values of a map have one shape, so that they are the rows of one tensor.
Tensor stack(const std::vector<Value>& rows, const ValueType& row_type) {
  if (rows.empty()) return {row_type.element, {0}};
  const Tensor& first = rows[0].tensor();
  Shape shape = first.shape();
  shape.insert(shape.begin(), static_cast<std::int64_t>(rows.size()));
  Tensor result(first.type(), shape);
  visit_storage(first.type(), [&]<class T>(T*) {
    auto place = result.mutate<T>().begin();
    for (const Value& row : rows) {
      if (row.type() != first.type() || row.shape() != first.shape()) {
        throw FormatError("invalid", "the values of a map differ in type or shape");
      }
      place = std::ranges::copy(row.tensor().data<T>(), place).out;
    }
  });
  return result;
}

Tensor key_tensor(ElementType type, const std::vector<std::int64_t>& integers,
                  std::vector<std::string> texts) {
  if (type == ElementType::string) {
    if (!integers.empty()) fail("a map has integer keys beside text keys");
    const auto count = static_cast<std::int64_t>(texts.size());
    return make_strings({count}, std::move(texts));
  }
  if (!is_integer(type) || !texts.empty()) fail("a map's keys are not of its key type");
  return make_integers(type, {static_cast<std::int64_t>(integers.size())}, integers);
}

Value read_map(std::string_view bytes, const ValueType& type, int depth) {
  const ValueType row_type = inner_of(type);
  ElementType key_type = type.element;
  std::vector<std::int64_t> integers;
  std::vector<std::string> texts;
  std::vector<Value> rows;
  for_each_field(bytes, [&](const WireField& field) {
    const bool is_bytes = field.type == WireType::bytes;
    if (field.number == kName) return;
    if (field.number == kKeyType && !is_bytes) {
      key_type = element_type_from_number(static_cast<std::int64_t>(field.integer));
    } else if (field.number == kKeys && !is_bytes) {
      integers.push_back(static_cast<std::int64_t>(field.integer));
    } else if (field.number == kKeys) {
      std::string_view packed = field.bytes;
      while (!packed.empty()) {
        const auto key = take_varint(packed);
        if (!key) fail("a map's keys do not end");
        integers.push_back(static_cast<std::int64_t>(*key));
      }
    } else if (field.number == kStringKeys && is_bytes) {
      texts.emplace_back(field.bytes);
    } else if (field.number == kValues && is_bytes) {
      rows = read_sequence(field.bytes, ValueType::sequence(row_type), depth + 1).elements();
    } else {
      fail(fmt::format("a MapProto has no field {}", field.number));
    }
  });
  for (const Value& row : rows) {
    if (!row.is_tensor()) fail("a map whose values are no tensors is not supported");
  }
  Tensor keys = key_tensor(key_type, integers, std::move(texts));
  if (keys.size() != static_cast<std::int64_t>(rows.size())) {
    throw FormatError("invalid",
                      fmt::format("a map has {} keys and {} values", keys.size(), rows.size()));
  }
  return Value::map(std::move(keys), stack(rows, row_type));
}

Value read_value(std::string_view bytes, const ValueType& type, int depth) {
  if (depth > kDeepest) fail("values are nested too deeply");
  switch (type.kind) {
    case ValueType::Kind::sequence:
      return read_sequence(bytes, type, depth);
    case ValueType::Kind::optional:
      return read_optional(bytes, type, depth);
    case ValueType::Kind::map:
      return read_map(bytes, type, depth);
    case ValueType::Kind::sparse_tensor:
      fail("sparse test values are not supported");
    case ValueType::Kind::unknown:
    case ValueType::Kind::tensor:
      break;
  }
  return read_tensor(bytes, type);
}

std::string tensor_bytes(const Tensor& tensor, const std::string& name) {
  onnx::TensorProto proto;
  put_tensor(tensor, proto);
  if (!name.empty()) proto.set_name(name);
  return proto.SerializeAsString();
}

// The kind and the field number of a value inside a sequence or an optional.
std::pair<ElementKind, Held> place_of(ValueType::Kind kind) {
  switch (kind) {
    case ValueType::Kind::sequence:
      return {kSequence, kSequences};
    case ValueType::Kind::map:
      return {kMap, kMaps};
    case ValueType::Kind::optional:
      return {kOptional, kOptionals};
    default:
      return {kTensor, kTensors};
  }
}

Tensor row_of(const Tensor& rows, std::int64_t index) {
  Tensor row(rows.type(), Shape(rows.shape().begin() + 1, rows.shape().end()));
  const auto size = static_cast<std::size_t>(row.size());
  visit_storage(rows.type(), [&]<class T>(T*) {
    const auto source = rows.data<T>().subspan(static_cast<std::size_t>(index) * size, size);
    std::ranges::copy(source, row.mutate<T>().begin());
  });
  return row;
}

std::string map_bytes(const Value& value, const std::string& name) {
  std::string message;
  if (!name.empty()) put_bytes(message, kName, name);
  const Tensor& keys = value.keys();
  put_integer(message, kKeyType, static_cast<int>(keys.type()));
  std::string values;
  put_integer(values, kElementKind, kTensor);
  for (std::int64_t i = 0; i < keys.size(); ++i) {
    if (keys.type() == ElementType::string) {
      put_bytes(message, kStringKeys, keys.data<std::string>()[static_cast<std::size_t>(i)]);
    } else {
      put_integer(message, kKeys, keys.integer(i));
    }
    put_bytes(values, kTensors, tensor_bytes(row_of(value.mapped(), i), ""));
  }
  put_bytes(message, kValues, values);
  return message;
}

std::string container_bytes(const Value& value, const std::string& name) {
  std::string message;
  if (!name.empty()) put_bytes(message, kName, name);
  const bool nothing = value.kind() == Value::Kind::optional && value.elements().empty();
  const auto [kind, place] = place_of(value.value_type().inner->kind);
  put_integer(message, kElementKind, nothing ? kNothing : kind);
  for (const Value& element : value.elements())
    put_bytes(message, place, to_test_bytes(element, ""));
  return message;
}

}  // namespace

Result<Value> parse_test_value(std::string_view bytes, const ValueType& type,
                               const std::string& where) {
  return guard_format(where, [&] { return read_value(bytes, type, 0); });
}

Result<Value> read_test_value(const std::filesystem::path& path, const ValueType& type) {
  return guard_format(path.string(), [&] { return read_value(map_file(path).bytes, type, 0); });
}

std::string to_test_bytes(const Value& value, const std::string& name) {
  const bool container =
      value.kind() == Value::Kind::sequence || value.kind() == Value::Kind::optional;
  if (container) return container_bytes(value, name);
  if (value.kind() == Value::Kind::map) return map_bytes(value, name);
  ASSAY_CHECK(value.is_tensor());
  ASSAY_CHECK(value.exact());
  return tensor_bytes(value.tensor(), name);
}

}  // namespace assay

#include "formats/onnx_tensor.h"

#include <charconv>
#include <limits>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "formats/failure.h"
#include "generated/onnx.pb.h"
#include "graph/names.h"

namespace assay {
namespace {

using google::protobuf::RepeatedField;

// The field of TensorProto that holds elements which are not raw.
enum class TypedField : std::uint8_t { floats, doubles, int32s, int64s, uint64s, strings };

TypedField typed_field(ElementType type) {
  switch (type) {
    case ElementType::f32:
    case ElementType::c64:
      return TypedField::floats;
    case ElementType::f64:
    case ElementType::c128:
      return TypedField::doubles;
    case ElementType::i64:
      return TypedField::int64s;
    case ElementType::u32:
    case ElementType::u64:
      return TypedField::uint64s;
    case ElementType::string:
      return TypedField::strings;
    default:
      return TypedField::int32s;
  }
}

// A bool of a file may be any byte, so it is never shared.
bool lies_as_in_memory(ElementType type) {
  return type != ElementType::boolean && type != ElementType::string &&
         bit_width(type) == static_cast<int>(8 * storage_size(type));
}

bool is_aligned(const void* data, ElementType type) {
  return visit_storage(
      type, [&]<class T>(T*) { return reinterpret_cast<std::uintptr_t>(data) % alignof(T) == 0; });
}

// A tensor on its way out of its proto.
class Reader {
 public:
  Reader(onnx::TensorProto& proto, ExternalFiles& files);
  Tensor read();

 private:
  [[noreturn]] void fail(const std::string& reason) const;
  void expect_one_field() const;
  void expect_count(std::int64_t found, std::int64_t expected, const char* what) const;
  ExternalPlace external_place() const;
  Tensor from_bytes(SharedBytes data) const;
  Tensor read_external();
  Tensor read_raw();
  Tensor read_typed();
  Tensor read_strings();
  Tensor read_int32s();
  Tensor read_packed() const;
  Tensor read_uint32s() const;
  template <class T>
  Tensor share(RepeatedField<T>* field, std::int64_t per_element) const;

  onnx::TensorProto& proto_;
  ExternalFiles& files_;
  ElementType type_;
  Shape shape_;
  std::int64_t count_ = 0;
};

Reader::Reader(onnx::TensorProto& proto, ExternalFiles& files)
    : proto_(proto),
      files_(files),
      type_(element_type_from_number(proto.data_type())),
      shape_(proto.dims().begin(), proto.dims().end()) {
  const auto count = checked_element_count(shape_);
  if (!count) fail("the shape has a negative or too large extent");
  count_ = *count;
  if (proto.has_segment()) fail("tensors in segments are not supported");
}

void Reader::fail(const std::string& reason) const {
  throw FormatError("invalid", fmt::format("tensor {} {}{}: {}", in_quotes(proto_.name()),
                                           short_name(type_), printable(to_text(shape_)), reason));
}

void Reader::expect_count(std::int64_t found, std::int64_t expected, const char* what) const {
  if (found != expected)
    fail(fmt::format("the shape needs {} {}, there are {}", expected, what, found));
}

void Reader::expect_one_field() const {
  const int used = !proto_.raw_data().empty() + !proto_.float_data().empty() +
                   !proto_.double_data().empty() + !proto_.int32_data().empty() +
                   !proto_.int64_data().empty() + !proto_.uint64_data().empty() +
                   !proto_.string_data().empty();
  if (used > 1) fail("elements are given in more than one field");
}

Tensor Reader::read() {
  if (proto_.data_location() == onnx::TensorProto::EXTERNAL) return read_external();
  expect_one_field();
  if (!proto_.raw_data().empty()) return read_raw();
  return read_typed();
}

ExternalPlace Reader::external_place() const {
  ExternalPlace place;
  const auto number = [&](const std::string& key, const std::string& text) {
    std::uint64_t value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc() || end != text.data() + text.size()) {
      fail(fmt::format("{} of external data is no number: {}", key, in_quotes(text)));
    }
    return value;
  };
  for (const auto& entry : proto_.external_data()) {
    if (entry.key() == "location") place.location = entry.value();
    if (entry.key() == "offset") place.offset = number(entry.key(), entry.value());
    if (entry.key() == "length") place.length = number(entry.key(), entry.value());
  }
  return place;
}

Tensor Reader::read_external() {
  if (type_ == ElementType::string) fail("text cannot be external data");
  const auto size = file_size(type_, count_);
  if (!size) fail("the shape is too large");
  try {
    return from_bytes(files_.bytes(external_place(), *size));
  } catch (const FormatError& error) {
    throw FormatError(error.kind(),
                      fmt::format("tensor {}: {}", in_quotes(proto_.name()), error.what()));
  }
}

Tensor Reader::read_raw() {
  if (type_ == ElementType::string) fail("text cannot be in raw_data");
  const auto size = file_size(type_, count_);
  if (!size || *size != proto_.raw_data().size()) {
    fail(fmt::format("the shape needs {} bytes, there are {}",
                     size ? std::to_string(*size) : "too many", proto_.raw_data().size()));
  }
  const std::shared_ptr<const std::string> bytes(proto_.release_raw_data());
  return from_bytes({bytes, *bytes});
}

Tensor Reader::from_bytes(SharedBytes data) const {
  if (lies_as_in_memory(type_) && count_ > 0 && is_aligned(data.bytes.data(), type_)) {
    return {type_, shape_, std::move(data.owner), data.bytes.data()};
  }
  auto tensor = from_file_bytes(type_, shape_, data.bytes);
  ASSAY_CHECK(tensor.has_value());
  return *std::move(tensor);
}

template <class T>
Tensor Reader::share(RepeatedField<T>* field, std::int64_t per_element) const {
  std::int64_t expected = 0;
  if (__builtin_mul_overflow(count_, per_element, &expected)) fail("the shape is too large");
  expect_count(field->size(), expected, "numbers");
  if (count_ == 0) return {type_, shape_};
  auto owner = std::make_shared<RepeatedField<T>>();
  owner->Swap(field);
  const void* data = owner->data();
  return {type_, shape_, std::move(owner), data};
}

Tensor Reader::read_typed() {
  switch (typed_field(type_)) {
    case TypedField::floats:
      return share(proto_.mutable_float_data(), type_ == ElementType::c64 ? 2 : 1);
    case TypedField::doubles:
      return share(proto_.mutable_double_data(), type_ == ElementType::c128 ? 2 : 1);
    case TypedField::int64s:
      return share(proto_.mutable_int64_data(), 1);
    case TypedField::uint64s:
      if (type_ == ElementType::u32) return read_uint32s();
      return share(proto_.mutable_uint64_data(), 1);
    case TypedField::strings:
      return read_strings();
    case TypedField::int32s:
      break;
  }
  return type_ == ElementType::i32 ? share(proto_.mutable_int32_data(), 1) : read_int32s();
}

Tensor Reader::read_strings() {
  expect_count(proto_.string_data_size(), count_, "strings");
  std::vector<std::string> strings;
  strings.reserve(static_cast<std::size_t>(count_));
  for (std::string& text : *proto_.mutable_string_data()) strings.push_back(std::move(text));
  return make_strings(shape_, std::move(strings));
}

Tensor Reader::read_uint32s() const {
  expect_count(proto_.uint64_data_size(), count_, "numbers");
  Tensor tensor = Tensor::uninitialized(type_, shape_);
  const auto data = tensor.mutate<std::uint32_t>();
  for (std::size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<std::uint32_t>(proto_.uint64_data(static_cast<int>(i)));
  }
  return tensor;
}

// Each entry holds the bits of one element; two or four elements where they are of 4 or 2 bits.
Tensor Reader::read_int32s() {
  const int bits = bit_width(type_);
  if (bits == 4 || bits == 2) return read_packed();
  expect_count(proto_.int32_data_size(), count_, "numbers");
  Tensor tensor = Tensor::uninitialized(type_, shape_);
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  const auto entry = [&](std::size_t i) {
    return static_cast<std::uint32_t>(proto_.int32_data(static_cast<int>(i)));
  };
  visit_storage(type_, [&]<class T>(T*) {
    if constexpr (std::is_same_v<T, float>) {
      const auto data = tensor.mutate<float>();
      for (std::size_t i = 0; i < data.size(); ++i) {
        data[i] = static_cast<float>(from_bits(type_, entry(i) & mask));
      }
    } else if constexpr (std::is_same_v<T, bool>) {
      const auto data = tensor.mutate<bool>();
      for (std::size_t i = 0; i < data.size(); ++i) data[i] = (entry(i) & mask) != 0;
    } else if constexpr (std::is_integral_v<T>) {
      const auto data = tensor.mutate<T>();
      for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<T>(entry(i));
    }
  });
  return tensor;
}

Tensor Reader::read_packed() const {
  const auto size = file_size(type_, count_);
  expect_count(proto_.int32_data_size(),
               static_cast<std::int64_t>(size.value_or(std::numeric_limits<std::int64_t>::max())),
               "packed numbers");
  std::string bytes;
  for (const std::int32_t entry : proto_.int32_data()) bytes += static_cast<char>(entry);
  return from_bytes({nullptr, bytes});
}

}  // namespace

ElementType element_type_from_number(std::int64_t number) {
  if (number <= 0 || number >= kElementTypeCount) {
    throw FormatError("invalid", fmt::format("there is no element type {}", number));
  }
  return static_cast<ElementType>(number);
}

std::optional<std::uint64_t> file_size(ElementType type, std::int64_t elements) {
  if (type == ElementType::string || type == ElementType::undefined) return std::nullopt;
  const __int128 bytes = (static_cast<__int128>(elements) * bit_width(type) + 7) / 8;
  if (bytes > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
  return static_cast<std::uint64_t>(bytes);
}

Tensor take_tensor(onnx::TensorProto& proto, ExternalFiles& files) {
  return Reader(proto, files).read();
}

SparseTensor take_sparse_tensor(onnx::SparseTensorProto& proto, ExternalFiles& files) {
  SparseTensor sparse;
  sparse.values = take_tensor(*proto.mutable_values(), files);
  sparse.shape.assign(proto.dims().begin(), proto.dims().end());
  const auto fail = [&](const char* reason) {
    throw FormatError(
        "invalid", fmt::format("sparse tensor {} of shape {}: {}", in_quotes(proto.values().name()),
                               printable(to_text(sparse.shape)), reason));
  };
  if (!checked_element_count(sparse.shape)) fail("the shape has a negative or too large extent");
  if (sparse.values.rank() != 1) fail("its values are no vector");
  const std::int64_t count = sparse.values.size();
  if (!proto.has_indices()) {
    if (count != 0) fail("it has values but no indices");
    sparse.indices = Tensor(ElementType::i64, {0});
    return sparse;
  }
  sparse.indices = take_tensor(*proto.mutable_indices(), files);
  const Shape& indices = sparse.indices.shape();
  const auto rank = static_cast<std::int64_t>(sparse.shape.size());
  if (sparse.indices.type() != ElementType::i64) fail("its indices are not of type int64");
  const bool linear = indices.size() == 1 && indices[0] == count;
  const bool by_axis = indices.size() == 2 && indices[0] == count && indices[1] == rank;
  if (!linear && !by_axis) fail("its indices do not fit its values and shape");
  return sparse;
}

void put_tensor(const Tensor& tensor, onnx::TensorProto& proto) {
  proto.set_data_type(static_cast<int>(tensor.type()));
  for (const std::int64_t extent : tensor.shape()) proto.add_dims(extent);
  if (tensor.type() == ElementType::string) {
    for (const std::string& text : tensor.data<std::string>()) proto.add_string_data(text);
  } else {
    proto.set_raw_data(to_file_bytes(tensor));
  }
}

void put_sparse_tensor(const SparseTensor& tensor, onnx::SparseTensorProto& proto) {
  put_tensor(tensor.values, *proto.mutable_values());
  if (tensor.indices.defined()) put_tensor(tensor.indices, *proto.mutable_indices());
  for (const std::int64_t extent : tensor.shape) proto.add_dims(extent);
}

}  // namespace assay

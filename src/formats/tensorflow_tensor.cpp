#include "formats/tensorflow_tensor.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "formats/failure.h"
#include "generated/tensorflow.pb.h"

namespace assay {
namespace {

using Proto = tensorflow_wire::TensorProto;

constexpr int kFirstReference = 101;
constexpr int kReference = 100;  // beyond the type that is referred to

Shape to_extents(const WireShape& wire) {
  Shape shape = wire.extents;
  if (wire.unknown_rank || !checked_element_count(shape)) {
    throw FormatError("invalid", fmt::format("a tensor has the shape {}", to_text(shape)));
  }
  return shape;
}

// A tensor that lists its elements.
class Listed {
 public:
  Listed(const WireTensor& wire, ElementType type, Shape shape)
      : wire_(wire), type_(type), shape_(std::move(shape)) {}

  Tensor make() {
    switch (type_) {
      case ElementType::f32:
        return numbers<float>(Proto::kFloatValFieldNumber, to_float);
      case ElementType::f64:
        return numbers<double>(Proto::kDoubleValFieldNumber, to_double);
      case ElementType::f16:
      case ElementType::bf16:
        return numbers<float>(Proto::kHalfValFieldNumber, [this](std::uint64_t bits) {
          return static_cast<float>(from_bits(type_, static_cast<std::uint16_t>(bits)));
        });
      case ElementType::boolean:
        return numbers<bool>(Proto::kBoolValFieldNumber, [](std::uint64_t n) { return n != 0; });
      case ElementType::string:
        return fill<std::string>(wire_.texts,
                                 [](std::string_view text) { return std::string(text); });
      case ElementType::c64:
        return pairs<float>(Proto::kScomplexValFieldNumber, to_float);
      case ElementType::c128:
        return pairs<double>(Proto::kDcomplexValFieldNumber, to_double);
      default:
        return integers();
    }
  }

 private:
  static float to_float(std::uint64_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  }
  static double to_double(std::uint64_t bits) { return std::bit_cast<double>(bits); }

  const WireNumbers& list(std::uint32_t field) const {
    static const WireNumbers kNone;
    const auto found = std::ranges::find(wire_.lists, field, &WireTensor::List::field);
    return found == wire_.lists.end() ? kNone : found->values;
  }

  Tensor integers() {
    switch (type_) {
      case ElementType::i64:
        return numbers<std::int64_t>(Proto::kInt64ValFieldNumber);
      case ElementType::u32:
        return numbers<std::uint32_t>(Proto::kUint32ValFieldNumber);
      case ElementType::u64:
        return numbers<std::uint64_t>(Proto::kUint64ValFieldNumber);
      default:
        break;
    }
    return visit_storage(type_, [&](auto* storage) { return integers_as(storage); });
  }

  template <class T>
  Tensor integers_as(T*) {
    if constexpr (std::is_integral_v<T>) return numbers<T>(Proto::kIntValFieldNumber);
    throw FormatError("invalid", "a tensor has a type without values");
  }

  template <class T>
  Tensor numbers(std::uint32_t field) {
    return numbers<T>(field, [](std::uint64_t number) { return static_cast<T>(number); });
  }
  template <class T, class Convert>
  Tensor numbers(std::uint32_t field, Convert&& convert) {
    return fill<T>(list(field), convert);
  }

  template <class T, class Convert>
  Tensor pairs(std::uint32_t field, Convert&& convert) {
    const WireNumbers& parts = list(field);
    std::vector<std::complex<T>> values;
    for (std::size_t i = 0; i + 1 < parts.size(); i += 2)
      values.emplace_back(convert(parts[i]), convert(parts[i + 1]));
    return fill<std::complex<T>>(values, [](const std::complex<T>& value) { return value; });
  }

  // A list that is shorter than the tensor goes on with its last value, an empty one with zeros.
  template <class T, class Values, class Convert>
  Tensor fill(const Values& values, Convert&& convert) {
    Tensor tensor(type_, std::move(shape_));
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

  const WireTensor& wire_;
  ElementType type_;
  Shape shape_;
};

}  // namespace

WireNumbers& WireTensor::list(std::uint32_t field) {
  const auto found = std::ranges::find(lists, field, &List::field);
  return found != lists.end() ? found->values : lists.emplace_back(List{field, {}}).values;
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

ValueType to_shape_type(const WireShape& shape) {
  ValueType type = ValueType::tensor(ElementType::undefined);
  if (shape.unknown_rank) return type;
  type.dims.emplace();
  type.dims->reserve(shape.extents.size());
  for (const std::int64_t extent : shape.extents)
    type.dims->push_back(extent < 0 ? Dim() : Dim(extent));
  return type;
}

Tensor to_tensor(const WireTensor& wire) {
  const ElementType type = element_type_of(wire.data_type);
  if (type == ElementType::undefined) return {};  // a handle: it has no elements to speak of
  Shape shape = to_extents(wire.shape);
  if (wire.content.empty()) return Listed(wire, type, std::move(shape)).make();
  if (type == ElementType::string) throw FormatError("invalid", "a text tensor lies in raw bytes");
  auto tensor = from_file_bytes(type, shape, wire.content);
  if (!tensor) {
    throw FormatError("invalid", fmt::format("a tensor {}{} has {} bytes", short_name(type),
                                             to_text(shape), wire.content.size()));
  }
  return *std::move(tensor);
}

}  // namespace assay

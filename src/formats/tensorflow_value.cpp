#include "formats/tensorflow_value.h"

#include <algorithm>
#include <bit>

#include "generated/tensorflow.pb.h"
#include "graph/names.h"

namespace assay {
namespace {

double to_real(std::uint64_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

std::int64_t to_type(std::uint64_t number) {
  return static_cast<std::int64_t>(element_type_of(static_cast<int>(number)));
}

AttributeValue to_list(const WireList& list) {
  if (!list.texts.empty()) return std::vector<std::string>(list.texts.begin(), list.texts.end());
  if (!list.reals.empty()) {
    std::vector<double> reals(list.reals.size());
    std::ranges::transform(list.reals, reals.begin(), to_real);
    return reals;
  }
  if (!list.shapes.empty()) {
    std::vector<ValueType> shapes(list.shapes.size());
    std::ranges::transform(list.shapes, shapes.begin(), to_shape_type);
    return shapes;
  }
  if (!list.tensors.empty()) {
    std::vector<Tensor> tensors(list.tensors.size());
    std::ranges::transform(list.tensors, tensors.begin(), to_tensor);
    return tensors;
  }
  if (!list.functions.empty()) {
    std::vector<std::string> names(list.functions.size());
    std::ranges::transform(list.functions, names.begin(), to_utf8);
    return names;
  }
  std::vector<std::int64_t> integers(list.integers.begin(), list.integers.end());
  for (const std::uint64_t truth : list.truths) integers.push_back(truth != 0 ? 1 : 0);
  for (const std::uint64_t type : list.types) integers.push_back(to_type(type));
  return integers;
}

}  // namespace

AttributeValue to_value(const WireValue& value) {
  using Proto = tensorflow_wire::AttrValue;
  switch (value.field) {
    case Proto::kSFieldNumber:
      return std::string(value.text);
    case Proto::kIFieldNumber:
      return static_cast<std::int64_t>(value.number);
    case Proto::kFFieldNumber:
      return to_real(value.number);
    case Proto::kBFieldNumber:
      return std::int64_t{value.number != 0 ? 1 : 0};
    case Proto::kTypeFieldNumber:
      return to_type(value.number);
    case Proto::kShapeFieldNumber:
      return to_shape_type(std::get<WireShape>(value.message));
    case Proto::kTensorFieldNumber:
      return to_tensor(std::get<WireTensor>(value.message));
    case Proto::kFuncFieldNumber:
      return to_utf8(value.text);
    case Proto::kPlaceholderFieldNumber:
      return AttributeReference{to_utf8(value.text), 0};
    case Proto::kListFieldNumber:
      return to_list(std::get<WireList>(value.message));
    default:
      return std::vector<std::int64_t>();
  }
}

}  // namespace assay

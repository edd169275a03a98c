// Values of attributes of TensorFlow graphs, from their fields.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "formats/tensorflow_tensor.h"
#include "formats/wire.h"
#include "graph/graph.h"

namespace assay {

struct WireList {
  std::vector<std::string_view> texts, functions;
  WireNumbers reals, integers, truths, types;
  std::vector<WireShape> shapes;
  std::vector<WireTensor> tensors;
};

// The field of a oneof that came last; of a message, all that came of it in succession.
struct WireValue {
  std::uint32_t field = 0;
  std::uint64_t number = 0;
  std::string_view text;
  std::variant<std::monostate, WireShape, WireTensor, WireList> message;

  void become(std::uint32_t given) {
    if (field == given) return;
    field = given;
    number = 0;
    text = {};
    message.emplace<std::monostate>();
  }
  template <class T>
  T& part() {
    auto* known = std::get_if<T>(&message);
    return known ? *known : message.emplace<T>();
  }
};

// Throws FormatError of kind "invalid" where a tensor contradicts itself.
AttributeValue to_value(const WireValue& value);

}  // namespace assay

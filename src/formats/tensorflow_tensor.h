// Tensors and shapes of TensorFlow graphs, from their fields.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/types.h"
#include "tensor/tensor.h"

namespace assay {

// Numbers as they lie on the wire: a varint, or the bits of what has a fixed length.
using WireNumbers = std::vector<std::uint64_t>;

struct WireShape {
  Shape extents;  // negative: not known
  bool unknown_rank = false;
};

struct WireTensor {
  struct List {
    std::uint32_t field;  // its number in TensorProto
    WireNumbers values;
  };
  int data_type = 0;
  WireShape shape;
  std::string_view content;
  std::vector<std::string_view> texts;
  std::vector<List> lists;

  WireNumbers& list(std::uint32_t field);
};

// The element type of a DataType, a reference's that of what it refers to; undefined for handles
// and for types that the standard lacks.
ElementType element_type_of(int data_type);

// A shape without an element type; of unknown rank: without extents.
ValueType to_shape_type(const WireShape& shape);
// Throws FormatError of kind "invalid" where a tensor contradicts itself.
Tensor to_tensor(const WireTensor& wire);

}  // namespace assay

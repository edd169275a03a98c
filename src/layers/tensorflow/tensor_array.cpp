// Arrays of tensors: what TensorFlow passes from one operation to the next as the array's flow is
// the array itself here, one tensor with the elements along its first axis.
#include "layers/tensorflow/vocabulary.h"

namespace assay::tensorflow {
namespace {

// The extents of an element, where the graph says them.
std::vector<std::int64_t> element_shape(const Builder& b) {
  const AttributeValue* value = b.site().node().find("element_shape");
  const auto* type = value ? std::get_if<ValueType>(value) : nullptr;
  const auto shape = type && type->dims ? to_shape(*type->dims) : std::nullopt;
  if (!shape) throw NotDefined("the shape of its elements is not known before the graph runs");
  return *shape;
}

// (size) → the handle, which nobody reads, and the array
void tensor_array(Builder& b) {
  const std::string size = flat_indices(b, 0);
  b.output(0, b("Identity", {size}));
  b.output(1, zeros(b, join(b, {size, b.integers(element_shape(b))}), type_of(b, "dtype")));
}

// (handle, indices, values, array): all elements at once
void scatter(Builder& b) {
  const std::string places = b("Unsqueeze", {indices(b, 1), b.integers({-1})});
  const std::string base = zeros(b, b("Shape", {b.input(2)}), type_of(b));
  b.output(0, b("ScatterND", {base, places, b.input(2)}));
}

// (handle, index, value, array)
void write(Builder& b) {
  const std::string place = b("Reshape", {indices(b, 1), b.integers({1, 1})});
  const std::string row = b("Unsqueeze", {b.input(2), b.integers({0})});
  b.output(0, b("ScatterND", {b.input(3), place, row}));
}

// (handle, index, array)
void read(Builder& b) {
  b.output(0, b("Gather", {b.input(2), indices(b, 1)}, {attribute("axis", 0)}));
}

// (handle, array)
void size(Builder& b) {
  const std::string count = b("Squeeze", {extent(b, b.input(1), 0), b.integers({0})});
  b.output(0, cast(b, count, ElementType::i32));
}

}  // namespace

std::vector<Definition> tensor_array_definitions() {
  return {{"TensorArrayGatherV3", read},      {"TensorArrayReadV3", read},
          {"TensorArrayScatterV3", scatter},  {"TensorArraySizeV3", size},
          {"TensorArrayV3", tensor_array, 2}, {"TensorArrayWriteV3", write}};
}

}  // namespace assay::tensorflow

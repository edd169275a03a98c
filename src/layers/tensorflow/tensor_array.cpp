// Arrays and lists of tensors: what TensorFlow passes from one operation to the next as the array's
// flow, or as the list, is here one tensor with the elements along its first axis.
#include <algorithm>

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

void count_elements(Builder& b, std::size_t array) {
  const std::string count = b("Squeeze", {extent(b, b.input(array), 0), b.integers({0})});
  b.output(0, cast(b, count, ElementType::i32));
}

// An element of an array at an index, both inputs of the node by their places.
void put_element(Builder& b, std::size_t array, std::size_t index, std::size_t element) {
  const std::string place = b("Reshape", {indices(b, index), b.integers({1, 1})});
  const std::string row = b("Unsqueeze", {b.input(element), b.integers({0})});
  b.output(0, b("ScatterND", {b.input(array), place, row}));
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
void write(Builder& b) { put_element(b, 3, 1, 2); }

// (handle, index, array)
void read(Builder& b) {
  b.output(0, b("Gather", {b.input(2), indices(b, 1)}, {attribute("axis", 0)}));
}

// (handle, array)
void size(Builder& b) { count_elements(b, 1); }

// `count` elements of nothing, where the graph says how large one is.
std::string list_of(Builder& b, const std::string& count) {
  const std::vector<std::int64_t> shape = needed_integers(b, 0, "the shape of its elements");
  const auto open = [](std::int64_t extent) { return extent < 0; };
  if (std::any_of(shape.begin(), shape.end(), open))
    throw NotDefined("the shape of its elements is not known before the graph runs");
  return zeros(b, join(b, {count, b.integers(shape)}), type_of(b, "element_dtype"));
}

// (the shape of an element, how many)
void reserve(Builder& b) { b.output(0, list_of(b, flat_indices(b, 1))); }
void empty_list(Builder& b) { b.output(0, list_of(b, b.integers({0}))); }

// (list, index, element)
void set_item(Builder& b) { put_element(b, 0, 1, 2); }

// (list, index or indices, the shape of an element)
void get_item(Builder& b) {
  b.output(0, b("Gather", {b.input(0), indices(b, 1)}, {attribute("axis", 0)}));
}

// (list, element)
void push_back(Builder& b) {
  const std::string row = b("Unsqueeze", {b.input(1), b.integers({0})});
  b.output(0, b("Concat", {b.input(0), row}, {attribute("axis", 0)}));
}

// (list, the shape of an element) → the list without its last element, and that
void pop_back(Builder& b) {
  const std::string first = b.integers({0}), last = b.integers({-1});
  b.output(0, b("Slice", {b.input(0), first, last, first}));
  b.output(1, b("Gather", {b.input(0), b.integer(-1)}, {attribute("axis", 0)}));
}

void same(Builder& b) { b.output(0, b("Identity", {b.input(0)})); }

void length(Builder& b) { count_elements(b, 0); }

}  // namespace

std::vector<Definition> tensor_array_definitions() {
  return {{"EmptyTensorList", empty_list},    {"TensorListFromTensor", same},
          {"TensorListGather", get_item},     {"TensorListGetItem", get_item},
          {"TensorListLength", length},       {"TensorListPopBack", pop_back, 2},
          {"TensorListPushBack", push_back},  {"TensorListReserve", reserve},
          {"TensorListSetItem", set_item},    {"TensorListStack", same},
          {"TensorArrayGatherV3", read},      {"TensorArrayReadV3", read},
          {"TensorArrayScatterV3", scatter},  {"TensorArraySizeV3", size},
          {"TensorArrayV3", tensor_array, 2}, {"TensorArrayWriteV3", write}};
}

}  // namespace assay::tensorflow

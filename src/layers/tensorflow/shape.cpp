// Shapes as values, and what gradients compute from them.
#include "layers/tensorflow/vocabulary.h"

namespace assay::tensorflow {
namespace {

std::string as_out_type(Builder& b, const std::string& value) {
  const auto type = b.site().integer("out_type", static_cast<int>(ElementType::i32));
  if (type == static_cast<int>(ElementType::i64)) return value;
  return cast(b, value, static_cast<ElementType>(type));
}

void shape(Builder& b) { b.output(0, as_out_type(b, b("Shape", {b.input(0)}))); }

void shape_n(Builder& b) {
  for (std::size_t i = 0; i < b.site().input_count(); ++i) {
    b.output(i, as_out_type(b, b("Shape", {b.input(i)})));
  }
}

void size(Builder& b) { b.output(0, as_out_type(b, b("Size", {b.input(0)}))); }

void rank(Builder& b) {
  b.output(0, cast(b, b("Size", {b("Shape", {b.input(0)})}), ElementType::i32));
}

void range(Builder& b) { b.output(0, b("Range", all_inputs(b))); }

void invert_permutation(Builder& b) {
  const std::string places = indices(b, 0);
  const std::string count = b("Shape", {b.input(0)});
  const std::string counted = to_type(b, count_up(b, count), "T");
  b.output(0, b("ScatterElements", {zeros(b, count, type_of(b)), places, counted}));
}

// The vector with ones put before it, `length` elements in all.
std::string padded(Builder& b, const std::string& vector, const std::string& length) {
  const std::string missing = b("Sub", {length, b("Shape", {vector})});
  return join(b, {zeros(b, missing, ElementType::i64, 1), vector});
}

// Axes along which a shape has been stretched to the shape of both together.
std::string stretched(Builder& b, const std::string& one) {
  const std::string is_one = b("Equal", {one, b.integer(1)});

  return b("Squeeze", {b("NonZero", {is_one}), b.integers({0})});
}

// The axes over which to sum the gradient of each of two shapes that were broadcast together. An
// axis that has one element in both counts for both.
void broadcast_gradient_args(Builder& b) {
  const std::string first = indices(b, 0), second = indices(b, 1);
  const std::string length = b("Max", {b("Shape", {first}), b("Shape", {second})});
  const std::string a = padded(b, first, length), c = padded(b, second, length);
  b.output(0, to_type(b, stretched(b, a), "T"));
  b.output(1, to_type(b, stretched(b, c), "T"));
}

void broadcast_args(Builder& b) {
  const std::string first = indices(b, 0), second = indices(b, 1);
  const std::string length = b("Max", {b("Shape", {first}), b("Shape", {second})});
  const std::string a = padded(b, first, length), c = padded(b, second, length);
  const std::string both = b("Where", {b("Equal", {a, b.integer(1)}), c, a});
  b.output(0, to_type(b, both, "T"));
}

// Where each of several tensors begins in their concatenation: zeros but for the axis.
void concat_offset(Builder& b) {
  const std::string axis = flat_indices(b, 0);
  const std::string length = b("Shape", {b.input(1)});
  const std::string from_start =
      b("Where", {b("Less", {axis, b.integer(0)}), b("Add", {axis, length}), axis});
  const std::string here = b("Equal", {count_up(b, length), from_start});
  const std::string none = zeros(b, length, ElementType::i64);
  std::string offset = none;
  for (std::size_t i = 1; i < b.site().input_count(); ++i) {
    const std::string place = b("Where", {here, offset, none});
    b.output(i - 1, cast(b, place, ElementType::i32));
    offset = b("Add", {offset, indices(b, i)});
  }
}

}  // namespace

std::vector<Definition> shape_definitions() {
  return {{"BroadcastArgs", broadcast_args},
          {"BroadcastGradientArgs", broadcast_gradient_args, 2},
          {"ConcatOffset", concat_offset, 0, "N"},
          {"InvertPermutation", invert_permutation},
          {"Range", range},
          {"Rank", rank},
          {"Shape", shape},
          {"ShapeN", shape_n, 0, "N"},
          {"Size", size}};
}

}  // namespace assay::tensorflow

// Tensors that are made: filled, tiled, stretched, padded.
#include "layers/tensorflow/vocabulary.h"

namespace assay::tensorflow {
namespace {

void fill(Builder& b) { b.output(0, b("Expand", {b.input(1), flat_indices(b, 0)})); }

void like(Builder& b) {
  const double value = b.site().node().op == "OnesLike" ? 1 : 0;
  b.output(0, zeros(b, b("Shape", {b.input(0)}), type_of(b), value));
}

void tile(Builder& b) { b.output(0, b("Tile", {b.input(0), flat_indices(b, 1)})); }

void broadcast_to(Builder& b) { b.output(0, b("Expand", {b.input(0), flat_indices(b, 1)})); }

// TensorFlow pairs what goes before and after each axis, the standard has all of one side first.
std::string pads(Builder& b) { return flat(b, transpose(b, indices(b, 1), {1, 0})); }

void pad(Builder& b) {
  Names inputs = {b.input(0), pads(b)};
  if (b.has(2)) inputs.push_back(b.input(2));
  b.output(0, b("Pad", std::move(inputs)));
}

void mirror_pad(Builder& b) {
  if (b.site().text("mode") != "REFLECT") throw NotDefined("a symmetric border is not defined");
  b.output(0, b("Pad", {b.input(0), pads(b)}, {attribute("mode", "reflect")}));
}

// (start, stop, number)
void lin_space(Builder& b) {
  const std::string count = flat_indices(b, 2);
  const std::string steps = b("Max", {b("Sub", {count, b.integers({1})}), b.integers({1})});
  const std::string way = b("Sub", {b.input(1), b.input(0)});
  const std::string step = b("Div", {way, to_type(b, steps, "T")});
  const std::string places = to_type(b, count_up(b, count), "T");
  b.output(0, b("Add", {b.input(0), b("Mul", {places, step})}));
}

}  // namespace

std::vector<Definition> fill_definitions() {
  return {{"BroadcastTo", broadcast_to},
          {"Fill", fill},
          {"LinSpace", lin_space},
          {"MirrorPad", mirror_pad},
          {"OnesLike", like},
          {"Pad", pad},
          {"PadV2", pad},
          {"Tile", tile},
          {"ZerosLike", like}};
}

}  // namespace assay::tensorflow

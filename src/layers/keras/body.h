// Body: what a layer's definition is written with: its inputs, weights and arguments by name, and
// operators of the catalogue.
#pragma once

#include "layers/keras/layer.h"

namespace assay::keras {

using Names = Builder::Values;
using Integers = std::vector<std::int64_t>;

class Body {
 public:
  Body(Builder& builder, const Layer& layer);
  // A layer inside another one, on values of that one's graph; `site` must outlive the body.
  Body(Builder& builder, const Layer& layer, const Site& site, Names inputs);

  const Layer& layer;
  Builder& b;
  const Site& site;
  std::string x;  // the first input

  std::string operator()(std::string op, Names inputs, Builder::Attributes attributes = {}) {
    return b(std::move(op), std::move(inputs), std::move(attributes));
  }
  bool has(std::size_t i) const { return i < inputs_.size() && !inputs_[i].empty(); }
  const std::string& input(std::size_t i) const { return inputs_[i]; }
  std::string weight(std::string_view name);  // "" where the layer has none of that name
  std::string number(double value) { return b.constant(make_scalar(type(), value)); }
  ElementType type() const;   // of what is computed
  std::int64_t rank() const;  // of x, which a layer with a body knows
  std::int64_t extent(std::int64_t axis) const;

  std::string transposed(const std::string& value, Integers perm);
  std::string reshaped(const std::string& value, Integers shape);  // 0 keeps an extent
  // Into the standard's order of axes, and back into data_format.
  std::string channels_first(const std::string& value);
  std::string as_data_format(const std::string& value);
  // The same with channels last.
  std::string channels_last(const std::string& value);
  std::string from_channels_last(const std::string& value);
  std::string biased(const std::string& value);  // plus the weight "bias", along the channels
  std::string activated(const std::string& value, std::string_view argument = "activation");

  // What the layer gives beside its first output: to the node, or to `more` of the layer around it.
  bool gives(std::size_t i) const { return more || site.has_output(i); }
  void give(std::size_t i, const std::string& value);
  Names* more = nullptr;

 private:
  Names inputs_;
  Weights weights_;
};

// Another reading of a layer, as a variant has it.
template <std::string (*Build)(Body&)>
void reading(Builder& b);

// Arguments as bodies and preconditions read them.
bool channels_last(const Site& site);
bool flag(const Site& site, std::string_view argument);
const Layer& layer_of(const Site& site);
// A list with an element for each spatial axis; one number stands for all axes.
Integers spatial(const Site& site, std::string_view argument);
// (before, after) of each spatial axis: from one number, one a spatial axis, or both ends of each.
Integers borders(const Site& site, std::string_view argument);
std::int64_t channel_axis(const Site& site);
Dim extent(const Site& site, std::int64_t axis, std::size_t input = 0);  // unknown if the rank is
Integers spatial_axes(const Site& site);
Integers front_to_last(std::int64_t spatial);  // axes, the second one at the end

template <std::string (*Build)(Body&)>
void reading(Builder& b) {
  Body body(b, layer_of(b.site()));
  b.output(0, Build(body));
}

// eˣ over its sum along all of the axes.
std::string softmax(Body& l, const std::string& x, const Integers& axes);
// A function of Keras' list, by name; "" and "linear" leave the value.
std::string activate(Body& l, const std::string& value, std::string_view name);
bool is_activation(std::string_view name);
bool halves_axis(std::string_view name);  // the last one

// Arguments that many layers have.
Argument count(std::string_view name);
Argument sizes(std::string_view name, Integers fallback);
Argument choice(std::string_view name, std::string fallback);
Argument flag_argument(std::string_view name, bool fallback);
Argument real(std::string_view name, Role role, double fallback);
Argument data_format();
Argument activation(std::string fallback = "linear");
Argument use_bias();
Argument masked();  // set where a model gives the layer a mask; Keras has no such argument

// How far two shapes are from each other: what their extents differ by, and ten for each axis that
// only one of them has. At least 1.
double shape_distance(const Dims& a, const Dims& b);

// Preconditions that many layers have.
void require_spatial(Check& c);  // x has the batch, the spatial axes and the channels
void require_activation(Check& c, std::string_view argument = "activation");

}  // namespace assay::keras

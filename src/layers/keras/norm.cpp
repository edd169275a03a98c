// Normalisations.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "layers/keras/body.h"
#include "layers/keras/layers.h"

namespace assay::keras {
namespace {

// The axes of the argument, from the front and in order; those that do not exist are left out.
Integers axes_of(const Site& site) {
  Integers axes;
  if (!site.rank(0)) return axes;
  for (std::int64_t axis : site.integers("axis")) {
    if (const auto place = normalize_axis(axis, *site.rank(0))) axes.push_back(*place);
  }
  std::ranges::sort(axes);
  return axes;
}

Weights scale_and_center(const Site& site) {
  Dims shape;
  for (std::int64_t axis : axes_of(site)) shape.push_back(extent(site, axis));
  Weights weights;
  if (flag(site, "scale")) weights.push_back({"gamma", shape, 1});
  if (flag(site, "center")) weights.push_back({"beta", shape, 0});
  return weights;
}

Weights batch_weights(const Site& site) {
  Weights weights = scale_and_center(site);
  Dims shape;
  for (std::int64_t axis : axes_of(site)) shape.push_back(extent(site, axis));
  weights.push_back({"moving_mean", shape, 0});
  weights.push_back({"moving_variance", shape, 1});
  return weights;
}

// A weight with the axes of the argument, as something that broadcasts with x.
std::string along_axes(Body& l, std::string_view name) {
  const std::string weight = l.weight(name);
  if (weight.empty()) return weight;
  Integers shape(static_cast<std::size_t>(l.rank()), 1);
  for (std::int64_t axis : axes_of(l.site)) shape[static_cast<std::size_t>(axis)] = l.extent(axis);
  return l.reshaped(weight, std::move(shape));
}

// √(variance + ε)
std::string width(Body& l, const std::string& variance) {
  return l("Sqrt", {l("Add", {variance, l.number(l.site.real("epsilon"))})});
}

// (x − mean) / width · gamma + beta
std::string normalized(Body& l, const std::string& centered, const std::string& width) {
  std::string y = l("Div", {centered, width});
  if (const std::string gamma = along_axes(l, "gamma"); !gamma.empty()) y = l("Mul", {y, gamma});
  if (const std::string beta = along_axes(l, "beta"); !beta.empty()) y = l("Add", {y, beta});
  return y;
}

std::string batch_normalization(Body& l) {
  const std::string centered = l("Sub", {l.x, along_axes(l, "moving_mean")});
  return normalized(l, centered, width(l, along_axes(l, "moving_variance")));
}

std::string epsilon_outside_the_root(Body& l) {
  const std::string centered = l("Sub", {l.x, along_axes(l, "moving_mean")});
  const std::string deviation = l("Sqrt", {along_axes(l, "moving_variance")});
  return normalized(l, centered, l("Add", {deviation, l.number(l.site.real("epsilon"))}));
}

std::string layer_normalization(Body& l) {
  const std::string axes = l.b.integers(axes_of(l.site));
  const std::string centered = l("Sub", {l.x, l("ReduceMean", {l.x, axes})});
  return normalized(l, centered, width(l, l("ReduceMean", {l("Mul", {centered, centered}), axes})));
}

std::vector<Argument> arguments() {
  return {{"axis", Role::axes, Integers{-1}},
          real("epsilon", Role::epsilon, 1e-3),
          flag_argument("center", true),
          flag_argument("scale", true)};
}

void require_axes(Check& c) { c.axes("axis", "x"); }

}  // namespace

std::vector<Layer> norm_layers() {
  return {
      {.name = "BatchNormalization",
       .summary = "(x − mean) / √(variance + ε) · gamma + beta, with the mean and variance that "
                  "training has found.",
       .arguments = arguments(),
       .weights = batch_weights,
       .require = require_axes,
       .build = batch_normalization,
       .variants = {{"epsilon-outside-the-root", Variant::Kind::defect, "Keras 2.1 on CNTK",
                     reading<epsilon_outside_the_root>}}},
      {.name = "LayerNormalization",
       .summary = "(x − mean) / √(variance + ε) · gamma + beta, of each row along some axes.",
       .arguments = arguments(),
       .weights = scale_and_center,
       .require = require_axes,
       .build = layer_normalization},
  };
}

}  // namespace assay::keras

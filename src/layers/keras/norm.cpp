// Normalisations.
#include <algorithm>
#include <ranges>

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

Dims axes_shape(const Site& site) {
  Dims shape;
  for (std::int64_t axis : axes_of(site)) shape.push_back(extent(site, axis));
  return shape;
}

Weights scale_and_center(const Site& site) {
  const Dims shape = axes_shape(site);
  Weights weights;
  if (flag(site, "scale")) weights.push_back({"gamma", shape, 1});
  if (flag(site, "center")) weights.push_back({"beta", shape, 0});
  return weights;
}

Weights batch_weights(const Site& site) {
  Weights weights = scale_and_center(site);
  const Dims shape = axes_shape(site);
  weights.push_back({"moving_mean", shape, 0, false});
  weights.push_back({"moving_variance", shape, 1, false});
  return weights;
}

// A weight with the axes of the argument, as something that broadcasts with x.
std::string along_axes(Body& l, std::string_view name) {
  std::string weight = l.weight(name);
  if (weight.empty()) return weight;
  Integers shape(static_cast<std::size_t>(l.rank()), 1);
  for (std::int64_t axis : axes_of(l.site)) shape[static_cast<std::size_t>(axis)] = l.extent(axis);
  return l.reshaped(weight, std::move(shape));
}

// √(variance + ε)
std::string width(Body& l, const std::string& variance) {
  return l("Sqrt", {l("Add", {variance, l.number(l.site.real("epsilon"))})});
}

// (x − mean) / width · gamma + beta; without a mean nothing is taken off. Some frameworks fold the
// mean into what is added, so that a bound takes the terms in any order.
std::string normalized(Body& l, const std::string& mean, const std::string& width) {
  const std::string gamma = along_axes(l, "gamma"), beta = along_axes(l, "beta");
  const std::string factor = gamma.empty() ? l("Reciprocal", {width}) : l("Div", {gamma, width});
  Names terms = {l("Mul", {l.x, factor})};
  if (!mean.empty()) terms.push_back(l("Neg", {l("Mul", {mean, factor})}));
  if (!beta.empty()) terms.push_back(beta);
  return l("Sum", std::move(terms));
}

std::string batch_normalization(Body& l) {
  const std::string deviation = width(l, along_axes(l, "moving_variance"));
  return normalized(l, along_axes(l, "moving_mean"), deviation);
}

std::string epsilon_outside_the_root(Body& l) {
  const std::string deviation = l("Sqrt", {along_axes(l, "moving_variance")});
  return normalized(l, along_axes(l, "moving_mean"),
                    l("Add", {deviation, l.number(l.site.real("epsilon"))}));
}

std::string mean_square(Body& l, const std::string& x) {
  return l("ReduceMean", {l("Mul", {x, x}), l.b.integers(axes_of(l.site))});
}

// With rms_scaling the mean counts for the variance alone, and nothing is added.
Weights layer_weights(const Site& site) {
  Weights weights = scale_and_center(site);
  if (flag(site, "rms_scaling")) {
    std::erase_if(weights, [](const Weight& weight) { return weight.name == "beta"; });
    if (weights.empty()) weights = {{"gamma", axes_shape(site), 1}};
  }
  return weights;
}

std::string layer_normalization(Body& l) {
  const std::string axes = l.b.integers(axes_of(l.site));
  const std::string mean = l("ReduceMean", {l.x, axes});
  const std::string variance = mean_square(l, l("Sub", {l.x, mean}));
  return normalized(l, flag(l.site, "rms_scaling") ? "" : mean, width(l, variance));
}

std::string unit_normalization(Body& l) {
  const std::string axes = l.b.integers(axes_of(l.site));
  const std::string norm = l("Sqrt", {l("ReduceSum", {l("Mul", {l.x, l.x}), axes})});
  return l("Div", {l.x, l("Max", {norm, l.number(1e-12)})});
}

std::int64_t groups_of(const Site& site) {
  const std::int64_t given = site.integer("groups");
  return given == -1 ? extent(site, site.integer("axis")).value : given;
}

void require_groups(Check& c) {
  if (!c.rank("x", at_least(2)) || !c.axis("axis", "x")) return;
  const std::int64_t groups = c.site.integer("groups");
  c.argument(groups > 0 || groups == -1, "groups", "a positive number, or −1",
             fmt::format("{}", groups));
  if (groups > 0) c.divisible(extent(c.site, c.site.integer("axis")), groups, "the axis' extent");
}

Weights group_weights(const Site& site) {
  Weights weights;
  const Dims shape = {extent(site, site.integer("axis"))};
  if (flag(site, "scale")) weights.push_back({"gamma", shape, 1});
  if (flag(site, "center")) weights.push_back({"beta", shape, 0});
  return weights;
}

// The axis is split into groups; each group of each example has its own mean and variance.
std::string group_normalization(Body& l) {
  const auto axis = *normalize_axis(l.site.integer("axis"), l.rank());
  const std::int64_t groups = groups_of(l.site);
  Integers split = {0}, whole = {0}, along = {1}, others;
  for (std::int64_t d = 1; d < l.rank(); ++d) {
    if (d == axis) split.push_back(groups), along.push_back(groups);
    split.push_back(d == axis ? l.extent(d) / groups : l.extent(d));
    along.push_back(d == axis ? l.extent(d) / groups : 1);
    whole.push_back(l.extent(d));
  }
  for (std::int64_t d = 1; d <= l.rank(); ++d) {
    if (d != axis) others.push_back(d);
  }
  const std::string x = l.reshaped(l.x, split), axes = l.b.integers(others);
  const std::string centered = l("Sub", {x, l("ReduceMean", {x, axes})});
  const std::string variance = l("ReduceMean", {l("Mul", {centered, centered}), axes});
  std::string y = l("Div", {centered, width(l, variance)});
  const std::string gamma = l.weight("gamma"), beta = l.weight("beta");
  if (!gamma.empty()) y = l("Mul", {y, l.reshaped(gamma, along)});
  if (!beta.empty()) y = l("Add", {y, l.reshaped(beta, along)});
  return l.reshaped(y, whole);
}

// The statistics of Normalization are arguments or weights.
Weights found_weights(const Site& site) {
  if (site.has("mean")) return {};
  const Dims shape = axes_shape(site);
  return {{"mean", shape, 0, false}, {"variance", shape, 1, false}, {"count", {}, 0, false}};
}

// An argument belongs to the last of the axes.
std::string statistic(Body& l, std::string_view name) {
  const std::vector<double> given = l.site.reals(name);
  if (given.empty()) return along_axes(l, name);
  Integers shape(static_cast<std::size_t>(l.rank()), 1), axes = axes_of(l.site);
  auto left = static_cast<std::int64_t>(given.size());
  for (; !axes.empty() && left > 1; axes.pop_back()) {
    shape[static_cast<std::size_t>(axes.back())] = l.extent(axes.back());
    left /= l.extent(axes.back());
  }
  return l.b.constant(make_tensor(l.type(), Shape(shape.begin(), shape.end()), given));
}

std::string normalization(Body& l) {
  const std::string mean = statistic(l, "mean");
  const std::string width = l("Max", {l("Sqrt", {statistic(l, "variance")}), l.number(1e-7)});
  if (flag(l.site, "invert")) return l("Add", {mean, l("Mul", {l.x, width})});
  return l("Div", {l("Sub", {l.x, mean}), width});
}

void require_statistics(Check& c) {
  if (!c.axes("axis", "x")) return;
  const std::size_t means = c.site.reals("mean").size(), given = c.site.reals("variance").size();
  c.argument(means == given, "statistics", "as many variances as means",
             fmt::format("{} and {}", given, means));
  Integers fitting = {0, 1};
  Dim extents = 1;
  for (const Dim& extent : axes_shape(c.site) | std::views::reverse) {
    extents = extents * extent;
    fitting.push_back(extents.known() ? extents.value : static_cast<std::int64_t>(means));
  }
  c.argument(std::ranges::find(fitting, static_cast<std::int64_t>(means)) != fitting.end(),
             "statistics", "a mean for all, or one for each element along the axes",
             fmt::format("{} means", means));
}

std::vector<Argument> arguments(std::vector<Argument> own = {}) {
  own.insert(own.end(), {{"axis", Role::axes, Integers{-1}},
                         real("epsilon", Role::epsilon, 1e-3),
                         flag_argument("center", true),
                         flag_argument("scale", true)});
  return own;
}

void require_axes(Check& c) { c.axes("axis", "x"); }

// A radicand below zero is what a negative epsilon makes.
void require_normalization(Check& c) {
  require_axes(c);
  const double epsilon = c.site.real("epsilon");
  c.argument(epsilon >= 0, "not-negative", "epsilon not below 0", fmt::format("{}", epsilon));
}

}  // namespace

std::vector<Layer> norm_layers() {
  std::vector<Layer> layers = {
      {.name = "BatchNormalization",
       .summary = "(x − mean) / √(variance + ε) · gamma + beta, with the mean and variance that "
                  "training has found.",
       .arguments = arguments(),
       .weights = batch_weights,
       .require = require_normalization,
       .build = batch_normalization,
       .learns = true,
       .variants = {{"epsilon-outside-the-root", Variant::Kind::defect, "Keras 2.1 on CNTK",
                     reading<epsilon_outside_the_root>}}},
      {.name = "LayerNormalization",
       .summary = "(x − mean) / √(variance + ε) · gamma + beta, of each row along some axes.",
       .arguments = arguments({flag_argument("rms_scaling", false)}),
       .weights = layer_weights,
       .require = require_normalization,
       .build = layer_normalization},
      {.name = "RMSNormalization",
       .summary = "x / √(mean of x² + ε) · scale, of each row along some axes.",
       .arguments = {{"axis", Role::axes, Integers{-1}}, real("epsilon", Role::epsilon, 1e-6)},
       .weights =
           [](const Site& site) {
             return Weights{{"scale", axes_shape(site), 1}};
           },
       .require = require_axes,
       .build =
           [](Body& l) {
             return l("Mul",
                      {l("Div", {l.x, width(l, mean_square(l, l.x))}), along_axes(l, "scale")});
           },
       .since = 3},
      {.name = "UnitNormalization",
       .summary = "x over its length along some axes.",
       .arguments = {{"axis", Role::axes, Integers{-1}}},
       .require = require_axes,
       .build = unit_normalization},
      {.name = "GroupNormalization",
       .summary = "(x − mean) / √(variance + ε) · gamma + beta, with the mean and variance of "
                  "groups of channels.",
       .arguments = {{"groups", Role::count, std::int64_t{32}},
                     {"axis", Role::axis, std::int64_t{-1}},
                     real("epsilon", Role::epsilon, 1e-3),
                     flag_argument("center", true),
                     flag_argument("scale", true)},
       .weights = group_weights,
       .require = require_groups,
       .build = group_normalization},
      {.name = "Normalization",
       .summary = "(x − mean) / √variance, with a given or adapted mean and variance, or its "
                  "inverse.",
       .arguments = {{"axis", Role::axes, Integers{-1}},
                     {"mean", Role::factors, {}, true},
                     {"variance", Role::factors, {}, true},
                     flag_argument("invert", false)},
       .weights = found_weights,
       .require = require_statistics,
       .build = normalization},
  };
  for (Layer& layer : layers) {
    layer.masks = layer.name == "RMSNormalization" ? Masks::end : Masks::pass;
  }
  return layers;
}

}  // namespace assay::keras

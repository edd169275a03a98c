// Convolutions, and those that turn them round, work channel by channel, or in two steps.
#include <algorithm>

#include <fmt/format.h>

#include "layers/keras/layers.h"
#include "layers/keras/windows.h"

namespace assay::keras {
namespace {

Dims with_channels(const Site& site, Dim last_but_one, Dim last) {
  Dims shape;
  for (std::int64_t k : spatial(site, "kernel_size")) shape.emplace_back(k);
  shape.push_back(last_but_one);
  shape.push_back(last);
  return shape;
}

Weights with_bias(const Site& site, Weights weights, Dim filters) {
  if (flag(site, "use_bias")) weights.push_back({"bias", {filters}});
  return weights;
}

Dim channels(const Site& site) { return extent(site, channel_axis(site)); }

Dim divided(const Dim& number, std::int64_t divisor) {
  return number.known() && divisor > 0 ? Dim(number.value / divisor) : Dim();
}

Weights conv_weights(const Site& site) {
  const Dim in = divided(channels(site), site.integer("groups", 1)), out = site.integer("filters");
  return with_bias(site, {{"kernel", with_channels(site, in, out)}}, out);
}

Weights transpose_weights(const Site& site) {
  const Dim out = site.integer("filters");
  return with_bias(site, {{"kernel", with_channels(site, out, channels(site))}}, out);
}

Weights depthwise_weights(const Site& site) {
  const Dim in = channels(site), each = site.integer("depth_multiplier");
  return with_bias(site, {{"depthwise_kernel", with_channels(site, in, each)}}, in * each);
}

Weights separable_weights(const Site& site) {
  const Dim in = channels(site), each = site.integer("depth_multiplier"),
            out = site.integer("filters");
  Dims point(spatial(site, "kernel_size").size(), Dim(1));
  point.push_back(in * each);
  point.push_back(out);
  return with_bias(
      site,
      {{"depthwise_kernel", with_channels(site, in, each)}, {"pointwise_kernel", std::move(point)}},
      out);
}

// Keras has the two axes of channels last; the standard has them first, in `order`.
std::string kernel_first(Body& l, std::string_view name, Integers order) {
  for (int i = 0; i < l.layer.spatial; ++i) order.push_back(i);
  return l.transposed(l.weight(name), std::move(order));
}

std::string output_first(Body& l, std::string_view name) {
  return kernel_first(l, name, {l.layer.spatial + 1, l.layer.spatial});
}

std::string finished(Body& l, const std::string& y) { return l.activated(l.as_data_format(y)); }

std::string conv(Body& l) {
  Builder::Attributes attributes = window_attributes(l.site, "kernel_size");
  attributes.push_back(attribute("group", l.site.integer("groups", 1)));
  return finished(l, l("Conv", {l.channels_first(l.x), output_first(l, "kernel"), l.weight("bias")},
                       std::move(attributes)));
}

// One map a channel and multiplier.
std::string depthwise_maps(Body& l) {
  Integers shape(static_cast<std::size_t>(l.layer.spatial) + 2, 0);
  shape[0] = -1;
  shape[1] = 1;
  return l.reshaped(kernel_first(l, "depthwise_kernel", {l.layer.spatial, l.layer.spatial + 1}),
                    std::move(shape));
}

std::string depthwise(Body& l, const std::string& bias) {
  Builder::Attributes attributes = window_attributes(l.site, "kernel_size");
  attributes.push_back(attribute("group", l.extent(channel_axis(l.site))));
  return l("Conv", {l.channels_first(l.x), depthwise_maps(l), bias}, std::move(attributes));
}

std::string first_channel_only(Body& l) {
  const std::string first =
      l("Slice", {l.channels_first(l.x), l.b.integers({0}), l.b.integers({1}), l.b.integers({1})});
  return finished(l, l("Conv", {first, depthwise_maps(l), l.weight("bias")},
                       window_attributes(l.site, "kernel_size")));
}

std::string separable(Body& l) {
  return finished(
      l, l("Conv", {depthwise(l, ""), output_first(l, "pointwise_kernel"), l.weight("bias")}));
}

// The gradient of a convolution of the same padding: what that would cut off or leave over at the
// end is put right by pads and output_padding.
std::string conv_transpose(Body& l) {
  const Integers strides = spatial(l.site, "strides"), covered = reach(l.site, "kernel_size");
  const Integers asked = spatial(l.site, "output_padding");
  const bool same = l.site.text("padding") == "same";
  const std::size_t axes = covered.size();
  Integers pads(2 * axes, 0), more(axes, 0);
  for (std::size_t i = 0; i < axes; ++i) {
    // How much longer the output is than (n − 1) · stride.
    std::int64_t length = same ? strides[i] : std::max(strides[i], covered[i]);
    if (!asked.empty()) length = covered[i] - (same ? covered[i] / 2 * 2 : 0) + asked[i];
    const std::int64_t surplus = std::max<std::int64_t>(covered[i] - length, 0);
    pads[i] = surplus / 2;
    pads[axes + i] = surplus - surplus / 2;
    more[i] = std::max<std::int64_t>(length - covered[i], 0);
  }
  return finished(
      l, l("ConvTranspose", {l.channels_first(l.x), output_first(l, "kernel"), l.weight("bias")},
           {attribute("strides", strides), attribute("pads", pads),
            attribute("dilations", spatial(l.site, "dilation_rate")),
            attribute("output_padding", more)}));
}

void require_conv(Check& c) {
  require_windows(c, "kernel_size");
  require_activation(c);
  c.positive({"filters", "groups", "depth_multiplier"});
  const std::int64_t groups = c.site.integer("groups", 1);
  if (groups <= 1) return;
  c.divisible(channels(c.site), groups, "the number of channels");
  c.divisible(c.site.integer("filters"), groups, "filters");
}

// The windows are those of the output, so any input is large enough.
void require_transpose(Check& c) {
  c.positive({"filters", "kernel_size", "strides", "dilation_rate"});
  c.one_of("padding", {"valid", "same"});
  require_spatial(c);
  require_activation(c);
}

std::vector<Argument> arguments(std::vector<Argument> own) {
  std::vector<Argument> all = {{"kernel_size", Role::sizes},
                               sizes("strides", {1}),
                               choice("padding", "valid"),
                               sizes("dilation_rate", {1}),
                               data_format(),
                               activation(),
                               use_bias(),
                               {"groups", Role::count, std::int64_t{1}}};
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

Layer plain(std::string_view name, std::string_view alias, int spatial) {
  return {.name = name,
          .summary = "Each window times a kernel, summed, for each of `filters` kernels.",
          .arguments = arguments({count("filters")}),
          .spatial = spatial,
          .weights = conv_weights,
          .require = require_conv,
          .build = conv,
          .alias = alias};
}

Layer transposing(std::string_view name, std::string_view alias, int spatial) {
  return {.name = name,
          .summary = "Each element times a kernel, added up where the kernels overlap.",
          .arguments = arguments({count("filters"), {"output_padding", Role::sizes, {}, true}}),
          .spatial = spatial,
          .weights = transpose_weights,
          .require = require_transpose,
          .build = conv_transpose,
          .alias = alias};
}

Layer by_channel(std::string_view name, int spatial) {
  return {.name = name,
          .summary = "A convolution of each channel by itself.",
          .arguments = arguments({{"depth_multiplier", Role::count, std::int64_t{1}}}),
          .spatial = spatial,
          .weights = depthwise_weights,
          .require = require_conv,
          .build = [](Body& l) { return finished(l, depthwise(l, l.weight("bias"))); },
          .variants = {{"first-channel-only", Variant::Kind::defect,
                        "Keras 2.2 and 2.3 on CNTK with padding='same' and an even kernel",
                        reading<first_channel_only>}}};
}

Layer two_steps(std::string_view name, std::string_view alias, int spatial) {
  return {.name = name,
          .summary = "A convolution of each channel by itself, then one of all channels.",
          .arguments =
              arguments({count("filters"), {"depth_multiplier", Role::count, std::int64_t{1}}}),
          .spatial = spatial,
          .weights = separable_weights,
          .require = require_conv,
          .build = separable,
          .alias = alias};
}

}  // namespace

std::vector<Layer> conv_layers() {
  return {plain("Conv1D", "Convolution1D", 1),
          plain("Conv2D", "Convolution2D", 2),
          plain("Conv3D", "Convolution3D", 3),
          transposing("Conv1DTranspose", "Convolution1DTranspose", 1),
          transposing("Conv2DTranspose", "Convolution2DTranspose", 2),
          transposing("Conv3DTranspose", "Convolution3DTranspose", 3),
          by_channel("DepthwiseConv1D", 1),
          by_channel("DepthwiseConv2D", 2),
          two_steps("SeparableConv1D", "SeparableConvolution1D", 1),
          two_steps("SeparableConv2D", "SeparableConvolution2D", 2)};
}

}  // namespace assay::keras

// Convolutions and their gradients, in two and three dimensions.
#include <fmt/format.h>

#include "layers/tensorflow/windows.h"

namespace assay::tensorflow {
namespace {

Builder::Attributes conv_attributes(const Builder& b) {
  Builder::Attributes all = window_attributes(b);
  all.push_back(attribute("dilations", spatial(b, "dilations")));
  return all;
}

// A filter [spatial…, in, out] with its last two axes first, in the order given.
std::string filter_first(Builder& b, const std::string& filter, bool out_first) {
  const auto count = static_cast<std::int64_t>(spatial_axes(b));
  std::vector<std::int64_t> perm = {count + (out_first ? 1 : 0), count + (out_first ? 0 : 1)};
  for (std::int64_t axis = 0; axis < count; ++axis) perm.push_back(axis);
  return transpose(b, filter, perm);
}

std::string filter_last(Builder& b, const std::string& filter) {
  std::vector<std::int64_t> perm = spatial_from(b, 2);
  perm.push_back(0);
  perm.push_back(1);
  return transpose(b, filter, perm);
}

std::string exchanged(Builder& b, const std::string& image) {
  std::vector<std::int64_t> perm = {1, 0};
  for (const std::int64_t axis : spatial_from(b, 2)) perm.push_back(axis);
  return transpose(b, image, perm);
}

// A filter for fewer channels than the image has is one for groups of them.
std::int64_t groups(const Builder& b) {
  const Dims *image = b.site().dims(0), *filter = b.site().dims(1);
  const std::size_t count = spatial_axes(b);
  if (!image || !filter || image->size() != count + 2 || filter->size() != count + 2) return 1;
  const Dim& channels = (*image)[channels_last(b) ? count + 1 : 1];
  const Dim& taken = (*filter)[count];
  if (!channels.known() || !taken.known() || taken.value == 0) return 1;
  return channels.value / taken.value;
}

void conv(Builder& b) {
  Builder::Attributes all = conv_attributes(b);
  all.push_back(attribute("group", groups(b)));
  b.output(0, as_data_format(
                  b, b("Conv", {channels_first(b, b.input(0)), filter_first(b, b.input(1), true)},
                       all)));
}

// The way back of each window: what lies beyond the image was border.
std::string spread(Builder& b, const std::string& gradient, const std::string& filter,
                   const std::string& extents, std::int64_t group) {
  const std::string kernel = spatial_extents(b, filter);
  const Border border = border_of(b, extents, spatial_extents(b, gradient), kernel);
  const std::string full =
      b("ConvTranspose", {gradient, filter},
        {attribute("strides", spatial(b, "strides")),
         attribute("dilations", spatial(b, "dilations")), attribute("group", group)});
  return without_border(b, full, border, extents);
}

// (shape of the image, filter, gradient)
void conv_backprop_input(Builder& b) {
  const std::string filter = filter_first(b, b.input(1), true);
  b.output(0, as_data_format(
                  b, spread(b, channels_first(b, b.input(2)), filter, spatial_part(b, 0), 1)));
}

// Correlates the image with the gradient: strides and dilations change places. `image` and
// `gradient` have what is to be summed over, the batch, as channels; `kernel` is i64[n].
std::string correlate(Builder& b, const std::string& image, const std::string& gradient,
                      const std::string& kernel, std::int64_t group) {
  const Border border =
      border_of(b, spatial_extents(b, image), spatial_extents(b, gradient), kernel);
  const std::string all =
      b("Conv", {with_border(b, image, border), gradient},
        {attribute("strides", spatial(b, "dilations")),
         attribute("dilations", spatial(b, "strides")), attribute("group", group)});
  const std::vector<std::int64_t> start(spatial_axes(b), 0);
  return b("Slice", {all, b.integers(start), kernel, b.integers(spatial_from(b, 2))});
}

// The spatial extents of a filter whose shape is input `i`.
std::string kernel_from_shape(Builder& b, std::size_t i) {
  const auto count = static_cast<std::int64_t>(spatial_axes(b));
  return b("Slice", {flat_indices(b, i), b.integers({0}), b.integers({count})});
}

// (image, shape of the filter, gradient)
void conv_backprop_filter(Builder& b) {
  const std::string image = exchanged(b, channels_first(b, b.input(0)));
  const std::string gradient = exchanged(b, channels_first(b, b.input(2)));
  b.output(0, filter_last(b, correlate(b, image, gradient, kernel_from_shape(b, 1), 1)));
}

// Channels and, for each, the filters: of input `i`, a filter or the shape of one.
struct Depth {
  std::int64_t channels, multiplier;
};

Depth depth_of(const Builder& b, std::size_t i, bool is_shape) {
  std::optional<std::vector<Dim>> extents;
  if (is_shape) {
    extents = b.site().extents(i);
  } else if (const Dims* dims = b.site().dims(i)) {
    extents = *dims;
  }
  if (!extents || extents->size() != 4 || !(*extents)[2].known() || !(*extents)[3].known()) {
    throw NotDefined("the number of its channels is not known before the graph runs");
  }
  return {(*extents)[2].value, (*extents)[3].value};
}

// A filter [h, w, in, multiplier] as one for as many groups as there are channels.
std::string depthwise_filter(Builder& b, const std::string& filter, const Depth& depth) {
  const std::string first = filter_first(b, filter, false);
  return b("Reshape", {first, join(b, {b.integers({depth.channels * depth.multiplier, 1}),
                                       spatial_extents(b, first)})});
}

void depthwise_conv(Builder& b) {
  const Depth depth = depth_of(b, 1, false);
  Builder::Attributes all = conv_attributes(b);
  all.push_back(attribute("group", depth.channels));
  b.output(0,
           as_data_format(
               b, b("Conv", {channels_first(b, b.input(0)), depthwise_filter(b, b.input(1), depth)},
                    all)));
}

// (shape of the image, filter, gradient)
void depthwise_backprop_input(Builder& b) {
  const Depth depth = depth_of(b, 1, false);
  b.output(0, as_data_format(b, spread(b, channels_first(b, b.input(2)),
                                       depthwise_filter(b, b.input(1), depth), spatial_part(b, 0),
                                       depth.channels)));
}

// (image, shape of the filter, gradient): a group a channel, the batch inside it.
void depthwise_backprop_filter(Builder& b) {
  const Depth depth = depth_of(b, 1, true);
  const std::string image = exchanged(b, channels_first(b, b.input(0)));
  const std::string groups =
      b("Reshape", {image, join(b, {b.integers({1, -1}), spatial_extents(b, image)})});
  const std::string gradient = exchanged(b, channels_first(b, b.input(2)));
  const std::string kernel = kernel_from_shape(b, 1);
  const std::string all = correlate(b, groups, gradient, kernel, depth.channels);
  const std::string shape = join(b, {b.integers({depth.channels, depth.multiplier}), kernel});
  b.output(0, filter_last(b, b("Reshape", {all, shape})));
}

}  // namespace

std::vector<Definition> conv_definitions() {
  return {{"Conv2D", conv},
          {"Conv2DBackpropFilter", conv_backprop_filter},
          {"Conv2DBackpropInput", conv_backprop_input},
          {"Conv3D", conv},
          {"Conv3DBackpropFilterV2", conv_backprop_filter},
          {"Conv3DBackpropInputV2", conv_backprop_input},
          {"DepthwiseConv2dNative", depthwise_conv},
          {"DepthwiseConv2dNativeBackpropFilter", depthwise_backprop_filter},
          {"DepthwiseConv2dNativeBackpropInput", depthwise_backprop_input}};
}

}  // namespace assay::tensorflow

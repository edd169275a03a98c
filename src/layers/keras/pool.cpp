// Pools: the largest element or the mean of each window, or of all spatial axes.
#include <algorithm>

#include "layers/keras/layers.h"
#include "layers/keras/windows.h"

namespace assay::keras {
namespace {

std::string pool(Body& l, const char* op) {
  Builder::Attributes attributes = window_attributes(l.site, "pool_size");
  attributes.push_back(attribute("kernel_shape", spatial(l.site, "pool_size")));
  return l.as_data_format(l(op, {l.channels_first(l.x)}, std::move(attributes)));
}

std::string global(Body& l, const char* op) {
  return l(op, {l.x, l.b.integers(spatial_axes(l.site))},
           {attribute("keepdims", l.site.integer("keepdims"))});
}

// The mean of the steps that count.
std::string masked_mean(Body& l) {
  const std::string axes = l.b.integers(spatial_axes(l.site));
  const std::int64_t channels = channels_last(l.site) ? 2 : 1;
  const std::string mask = l("Unsqueeze", {l.weight("mask"), l.b.integers({channels})});
  const Builder::Attributes keep = {attribute("keepdims", l.site.integer("keepdims"))};
  const std::string sum = l("ReduceSum", {l("Mul", {l.x, mask}), axes}, keep);
  return l("Div", {sum, l("ReduceSum", {mask, axes}, keep)});
}

Weights mask_weight(const Site& site) {
  if (!flag(site, "masked")) return {};
  return {{"mask", {extent(site, 0), extent(site, spatial_axes(site).front())}}};
}

Layer windowed(std::string_view name, std::string_view alias, int spatial, bool largest) {
  return {.name = name,
          .summary = largest ? "The largest element of each window."
                             : "The mean of each window, of the elements that the input has.",
          .arguments = {sizes("pool_size", {2}),
                        {"strides", Role::sizes, {}, true},
                        choice("padding", "valid"),
                        data_format()},
          .spatial = spatial,
          .require = [](Check& c) { require_windows(c, "pool_size"); },
          .build = largest ? [](Body& l) { return pool(l, "MaxPool"); }
                           : [](Body& l) { return pool(l, "AveragePool"); },
          .alias = alias};
}

Layer whole(std::string_view name, std::string_view alias, int spatial, bool largest) {
  return {.name = name,
          .summary = largest ? "The largest element of each channel." : "The mean of each channel.",
          .arguments = {data_format(), flag_argument("keepdims", false)},
          .spatial = spatial,
          .require = require_spatial,
          .build = largest ? [](Body& l) { return global(l, "ReduceMax"); }
                           : [](Body& l) { return global(l, "ReduceMean"); },
          .alias = alias};
}

}  // namespace

std::vector<Layer> pool_layers() {
  std::vector<Layer> layers = {windowed("MaxPooling1D", "MaxPool1D", 1, true),
                               windowed("MaxPooling2D", "MaxPool2D", 2, true),
                               windowed("MaxPooling3D", "MaxPool3D", 3, true),
                               windowed("AveragePooling1D", "AvgPool1D", 1, false),
                               windowed("AveragePooling2D", "AvgPool2D", 2, false),
                               windowed("AveragePooling3D", "AvgPool3D", 3, false),
                               whole("GlobalMaxPooling1D", "GlobalMaxPool1D", 1, true),
                               whole("GlobalMaxPooling2D", "GlobalMaxPool2D", 2, true),
                               whole("GlobalMaxPooling3D", "GlobalMaxPool3D", 3, true),
                               whole("GlobalAveragePooling1D", "GlobalAvgPool1D", 1, false),
                               whole("GlobalAveragePooling2D", "GlobalAvgPool2D", 2, false),
                               whole("GlobalAveragePooling3D", "GlobalAvgPool3D", 3, false)};
  const auto mean = std::ranges::find(layers, "GlobalAveragePooling1D", &Layer::name);
  mean->arguments.push_back(flag_argument("masked", false));
  mean->weights = mask_weight;
  mean->build = [](Body& l) {
    return flag(l.site, "masked") ? masked_mean(l) : global(l, "ReduceMean");
  };
  mean->masks = Masks::use;
  return layers;
}

}  // namespace assay::keras

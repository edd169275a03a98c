// Pools: the largest element or the mean of each window, or of all spatial axes.
#include <algorithm>

#include <fmt/format.h>

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

// Window i of an axis with n elements begins at ⌊i·n/size⌋ and ends before ⌈(i+1)·n/size⌉.
std::string adaptive(Body& l, const char* op) {
  std::string y = l.x;
  const Integers sizes = spatial(l.site, "output_size"), axes = spatial_axes(l.site);
  for (std::size_t d = 0; d < axes.size(); ++d) {
    const std::int64_t n = l.extent(axes[d]), size = sizes[d];
    const std::string axis = l.b.integers({axes[d]});
    Names windows;
    for (std::int64_t i = 0; i < size; ++i) {
      const std::string end = l.b.integers({((i + 1) * n + size - 1) / size});
      windows.push_back(l(op, {l("Slice", {y, l.b.integers({i * n / size}), end, axis}), axis}));
    }
    y = l("Concat", std::move(windows), {attribute("axis", axes[d])});
  }
  return y;
}

void require_adaptive(Check& c) {
  c.positive({"output_size"});
  const auto given = spatial(c.site, "output_size").size();
  c.argument(given == static_cast<std::size_t>(layer_of(c.site).spatial), "length",
             "output_size with a number for each spatial axis", fmt::format("{} numbers", given));
  require_spatial(c);
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

Layer adaptive(std::string_view name, int spatial, bool largest) {
  return {.name = name,
          .summary = largest ? "The largest element of each of so many windows."
                             : "The mean of each of so many windows.",
          .arguments = {{"output_size", Role::sizes}, data_format()},
          .spatial = spatial,
          .require = require_adaptive,
          .build = largest ? [](Body& l) { return adaptive(l, "ReduceMax"); }
                           : [](Body& l) { return adaptive(l, "ReduceMean"); },
          .since = 3};
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
                               whole("GlobalAveragePooling3D", "GlobalAvgPool3D", 3, false),
                               adaptive("AdaptiveMaxPooling1D", 1, true),
                               adaptive("AdaptiveMaxPooling2D", 2, true),
                               adaptive("AdaptiveMaxPooling3D", 3, true),
                               adaptive("AdaptiveAveragePooling1D", 1, false),
                               adaptive("AdaptiveAveragePooling2D", 2, false),
                               adaptive("AdaptiveAveragePooling3D", 3, false)};
  const auto mean = std::ranges::find(layers, "GlobalAveragePooling1D", &Layer::name);
  mean->arguments.push_back(masked());
  mean->weights = mask_weight;
  mean->build = [](Body& l) {
    return flag(l.site, "masked") ? masked_mean(l) : global(l, "ReduceMean");
  };
  mean->masks = Masks::use;
  return layers;
}

}  // namespace assay::keras

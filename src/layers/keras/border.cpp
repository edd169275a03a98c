// Layers that cut borders off, put borders on, or repeat elements, along the spatial axes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "layers/keras/body.h"
#include "layers/keras/layers.h"

namespace assay::keras {
namespace {

void require_borders(Check& c, std::string_view argument) {
  const auto axes = static_cast<std::size_t>(layer_of(c.site).spatial);
  c.not_negative({argument});
  if (borders(c.site, argument).size() != 2 * axes) {
    c.argument(false, argument, fmt::format("a border for each of {} axes", axes),
               fmt::format("{} numbers", c.site.integers(argument).size()));
  }
  require_spatial(c);
}

void require_padding(Check& c) { require_borders(c, "padding"); }

void require_cropping(Check& c) {
  require_borders(c, "cropping");
  if (!c.violations.empty()) return;
  const Integers cut = borders(c.site, "cropping"), axes = spatial_axes(c.site);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Dim found = extent(c.site, axes[i]);
    const std::int64_t total = cut[2 * i] + cut[2 * i + 1];
    if (!found.known() || found.value > total) continue;
    c.that(false, "Empty Output", "removes-all", fmt::format("an extent above {}", total),
           fmt::format("{}", found.value),
           kShapeBadness * static_cast<double>(total - found.value + 1),
           fmt::format("{} cuts {} from axis {}, which has only {}: nothing is left",
                       c.site.node().op, total, axes[i], found.value));
  }
}

std::string pad(Body& l) {
  const Integers both = borders(l.site, "padding"), axes = spatial_axes(l.site);
  const std::size_t rank = axes.size() + 2;
  Integers pads(2 * rank, 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    pads[static_cast<std::size_t>(axes[i])] = both[2 * i];
    pads[rank + static_cast<std::size_t>(axes[i])] = both[2 * i + 1];
  }
  return l("Pad", {l.x, l.b.integers(pads)});
}

std::string crop(Body& l) {
  const Integers both = borders(l.site, "cropping"), axes = spatial_axes(l.site);
  Integers starts, ends;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    starts.push_back(both[2 * i]);
    ends.push_back(both[2 * i + 1] == 0 ? INT64_MAX : -both[2 * i + 1]);
  }
  return l("Slice", {l.x, l.b.integers(starts), l.b.integers(ends), l.b.integers(axes)});
}

void require_upsampling(Check& c) {
  c.positive({"size"});
  require_spatial(c);
  if (c.site.has("interpolation")) c.one_of("interpolation", {"nearest", "bilinear"});
}

// The nearest element is the one that is repeated; between pixels the centres decide.
std::string upsample(Body& l) {
  const bool linear = l.site.text("interpolation") == "bilinear";
  std::vector<double> scales(static_cast<std::size_t>(l.layer.spatial) + 2, 1.0);
  const Integers size = spatial(l.site, "size"), axes = spatial_axes(l.site);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    scales[static_cast<std::size_t>(axes[i])] = static_cast<double>(size[i]);
  }
  const Shape shape = {static_cast<std::int64_t>(scales.size())};
  const std::string factors = l.b.constant(make_tensor(ElementType::f32, shape, scales));
  return l("Resize", {l.x, "", factors},
           {attribute("mode", linear ? "linear" : "nearest"),
            attribute("coordinate_transformation_mode", linear ? "half_pixel" : "asymmetric"),
            attribute("nearest_mode", "floor")});
}

Layer zero_padding(std::string_view name, int spatial) {
  return {.name = name,
          .summary = "Zeros around the spatial axes.",
          .arguments = {{"padding", Role::pads, Integers{1}}, data_format()},
          .spatial = spatial,
          .require = require_padding,
          .build = pad};
}

Layer cropping(std::string_view name, int spatial) {
  return {.name = name,
          .summary = "The spatial axes without their ends.",
          .arguments = {{"cropping", Role::pads, Integers{spatial == 2 ? 0 : 1}}, data_format()},
          .spatial = spatial,
          .require = require_cropping,
          .build = crop};
}

Layer upsampling(std::string_view name, int spatial) {
  return {.name = name,
          .summary = "Each element several times along each spatial axis.",
          .arguments = {sizes("size", {2}), choice("interpolation", "nearest"), data_format()},
          .spatial = spatial,
          .require = require_upsampling,
          .build = upsample};
}

}  // namespace

std::vector<Layer> border_layers() {
  return {zero_padding("ZeroPadding1D", 1), zero_padding("ZeroPadding2D", 2),
          zero_padding("ZeroPadding3D", 3), cropping("Cropping1D", 1),
          cropping("Cropping2D", 2),        cropping("Cropping3D", 3),
          upsampling("UpSampling1D", 1),    upsampling("UpSampling2D", 2),
          upsampling("UpSampling3D", 3)};
}

}  // namespace assay::keras

// Layers that bring images to a size.
#include <algorithm>

#include "layers/keras/body.h"
#include "layers/keras/layers.h"

namespace assay::keras {
namespace {

Integers target(const Body& l) { return {l.site.integer("height"), l.site.integer("width")}; }

Integers found(const Body& l) {
  const Integers axes = spatial_axes(l.site);
  return {l.extent(axes[0]), l.extent(axes[1])};
}

std::string middle(Body& l, const Integers& size) {
  const Integers all = found(l);
  Integers starts, ends;
  for (std::size_t d = 0; d < size.size(); ++d) {
    starts.push_back((all[d] - size[d]) / 2);
    ends.push_back(starts.back() + size[d]);
  }
  return l("Slice",
           {l.x, l.b.integers(starts), l.b.integers(ends), l.b.integers(spatial_axes(l.site))});
}

// Height and width of the image where the other one decides, at the target's ratio.
Integers in_ratio(const Body& l) {
  const Integers size = target(l), all = found(l);
  return {all[1] * size[0] / size[1], all[0] * size[1] / size[0]};
}

std::string cut_to_ratio(Body& l) {
  Integers size = in_ratio(l);
  const Integers all = found(l);
  for (std::size_t d = 0; d < size.size(); ++d)
    size[d] = std::clamp<std::int64_t>(size[d], 1, all[d]);
  return middle(l, size);
}

// The same border on both sides, so that an odd element is lost.
std::string fill_to_ratio(Body& l) {
  const Integers size = in_ratio(l), all = found(l);
  Integers borders;
  for (std::size_t d = 0; d < size.size(); ++d) {
    borders.push_back(std::max<std::int64_t>(size[d] - all[d], 0) / 2);
  }
  borders.insert(borders.end(), {borders[0], borders[1]});
  return l("Pad", {l.x, l.b.integers(borders), l.number(l.site.real("fill_value")),
                   l.b.integers(spatial_axes(l.site))});
}

// Centres of pixels decide; what lies outside of the image does not count.
std::string resized(Body& l, const std::string& x, std::string_view interpolation) {
  const std::string mode = interpolation == "bilinear"  ? "linear"
                           : interpolation == "bicubic" ? "cubic"
                                                        : "nearest";
  const bool wide = mode != "nearest" && flag(l.site, "antialias");
  return l("Resize", {x, "", "", l.b.integers(target(l))},
           {attribute("axes", spatial_axes(l.site)), attribute("mode", mode),
            attribute("nearest_mode", "round_prefer_ceil"), attribute("cubic_coeff_a", -0.5),
            attribute("exclude_outside", mode == "cubic" || wide), attribute("antialias", wide)});
}

std::string resizing(Body& l) {
  const std::string x = flag(l.site, "crop_to_aspect_ratio")  ? cut_to_ratio(l)
                        : flag(l.site, "pad_to_aspect_ratio") ? fill_to_ratio(l)
                                                              : l.x;
  return resized(l, x, l.site.text("interpolation"));
}

// An image that is too small is resized.
std::string center_crop(Body& l) {
  const Integers size = target(l), all = found(l);
  const bool fits = all[0] >= size[0] && all[1] >= size[1];
  return fits ? middle(l, size) : resized(l, cut_to_ratio(l), "bilinear");
}

void require_size(Check& c) {
  c.positive({"height", "width"});
  require_spatial(c);
}

void require_resizing(Check& c) {
  require_size(c);
  c.one_of("interpolation", {"nearest", "bilinear", "bicubic"});
  c.one_of("fill_mode", {"constant"});
  c.argument(!flag(c.site, "crop_to_aspect_ratio") || !flag(c.site, "pad_to_aspect_ratio"),
             "aspect-ratio", "a cut or a border", "both");
}

}  // namespace

std::vector<Layer> image_layers() {
  return {{.name = "CenterCrop",
           .summary = "The middle of an image; one that is too small is cut to the ratio and "
                      "resized.",
           .arguments = {count("height"), count("width"), data_format()},
           .spatial = 2,
           .require = require_size,
           .build = center_crop},
          {.name = "Resizing",
           .summary = "An image in another size.",
           .arguments = {count("height"), count("width"), choice("interpolation", "bilinear"),
                         flag_argument("crop_to_aspect_ratio", false),
                         flag_argument("pad_to_aspect_ratio", false),
                         choice("fill_mode", "constant"), real("fill_value", Role::factor, 0),
                         flag_argument("antialias", false), data_format()},
           .spatial = 2,
           .require = require_resizing,
           .build = resizing}};
}

}  // namespace assay::keras

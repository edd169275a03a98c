// Layers that bring images to a size.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "layers/keras/body.h"
#include "layers/keras/layers.h"

namespace assay::keras {
namespace {

constexpr std::int64_t kMostWeights = 1 << 24;  // of an axis of a Lanczos window

// An image on its way to the size that is asked for, with its height and width.
struct Image {
  std::string value;
  Integers size;
};

Integers target(const Site& site) { return {site.integer("height"), site.integer("width")}; }

Integers found(const Body& l) {
  const Integers axes = spatial_axes(l.site);
  return {l.extent(axes[0]), l.extent(axes[1])};
}

Image middle(Body& l, const Integers& size) {
  const Integers all = found(l);
  Integers starts, ends;
  for (std::size_t d = 0; d < size.size(); ++d) {
    starts.push_back((all[d] - size[d]) / 2);
    ends.push_back(starts.back() + size[d]);
  }
  return {l("Slice",
            {l.x, l.b.integers(starts), l.b.integers(ends), l.b.integers(spatial_axes(l.site))}),
          size};
}

// Height and width of the image where the other one decides, at the target's ratio.
Integers in_ratio(const Integers& size, const Integers& all) {
  return {all[1] * size[0] / size[1], all[0] * size[1] / size[0]};
}

Image cut_to_ratio(Body& l) {
  const Integers all = found(l);
  Integers size = in_ratio(target(l.site), all);
  for (std::size_t d = 0; d < size.size(); ++d)
    size[d] = std::clamp<std::int64_t>(size[d], 1, all[d]);
  return middle(l, size);
}

// The same border on both sides, so that an odd element is lost.
Image fill_to_ratio(Body& l) {
  const Integers all = found(l), size = in_ratio(target(l.site), all);
  Integers borders, filled;
  for (std::size_t d = 0; d < size.size(); ++d) {
    borders.push_back(std::max<std::int64_t>(size[d] - all[d], 0) / 2);
    filled.push_back(all[d] + 2 * borders[d]);
  }
  borders.insert(borders.end(), {borders[0], borders[1]});
  return {l("Pad", {l.x, l.b.integers(borders), l.number(l.site.real("fill_value")),
                    l.b.integers(spatial_axes(l.site))}),
          filled};
}

// sin(πx) / πx, times the same `lobes` times as wide.
double lanczos(double x, double lobes) {
  const double angle = std::numbers::pi * x;
  if (std::abs(x) >= lobes) return 0;
  return x == 0 ? 1 : std::sin(angle) * std::sin(angle / lobes) * lobes / (angle * angle);
}

// How much each of `from` elements counts for each of `to`: by the distance of their centres, on
// the scale of the coarser ones if the window is to be wide.
Tensor lanczos_weights(std::int64_t from, std::int64_t to, double lobes, bool wide,
                       ElementType type) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  std::vector<double> weights;
  for (std::int64_t i = 0; i < to; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale - 0.5;
    double sum = 0;
    for (std::int64_t k = 0; k < from; ++k) {
      const double distance = static_cast<double>(k) - center;
      weights.push_back(lanczos(wide ? distance / std::max(scale, 1.0) : distance, lobes));
      sum += weights.back();
    }
    for (auto one = weights.end() - from; one != weights.end(); ++one) *one /= sum;
  }
  return make_tensor(type, {to, from}, weights);
}

std::string weighed(Body& l, const Image& image, double lobes) {
  const Integers axes = spatial_axes(l.site), size = target(l.site);
  std::string value = image.value;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    std::string before = std::string("abcd").substr(0, static_cast<std::size_t>(l.rank()));
    std::string after = before;
    char& letter = after[static_cast<std::size_t>(axes[d])];
    const std::string table = {'z', std::exchange(letter, 'z')};
    const Tensor weights =
        lanczos_weights(image.size[d], size[d], lobes, flag(l.site, "antialias"), l.type());
    value = l("Einsum", {value, l.b.constant(weights)},
              {attribute("equation", fmt::format("{},{}->{}", before, table, after))});
  }
  return value;
}

// Centres of pixels decide; what lies outside of the image does not count.
std::string resized(Body& l, const Image& image, std::string_view interpolation) {
  if (interpolation == "lanczos3") return weighed(l, image, 3);
  if (interpolation == "lanczos5") return weighed(l, image, 5);
  const std::string mode = interpolation == "bilinear"  ? "linear"
                           : interpolation == "bicubic" ? "cubic"
                                                        : "nearest";
  const bool wide = mode != "nearest" && flag(l.site, "antialias");
  return l("Resize", {image.value, "", "", l.b.integers(target(l.site))},
           {attribute("axes", spatial_axes(l.site)), attribute("mode", mode),
            attribute("nearest_mode", "round_prefer_ceil"), attribute("cubic_coeff_a", -0.5),
            attribute("exclude_outside", mode == "cubic" || wide), attribute("antialias", wide)});
}

std::string resizing(Body& l) {
  const Image image = flag(l.site, "crop_to_aspect_ratio")  ? cut_to_ratio(l)
                      : flag(l.site, "pad_to_aspect_ratio") ? fill_to_ratio(l)
                                                            : Image{l.x, found(l)};
  return resized(l, image, l.site.text("interpolation"));
}

// An image that is too small is resized.
std::string center_crop(Body& l) {
  const Integers size = target(l.site), all = found(l);
  const bool fits = all[0] >= size[0] && all[1] >= size[1];
  return fits ? middle(l, size).value : resized(l, cut_to_ratio(l), "bilinear");
}

void require_size(Check& c) {
  c.positive({"height", "width"});
  require_spatial(c);
}

// A window has a weight for each element of the image, with a border that may be large.
void require_few_weights(Check& c) {
  const Integers axes = spatial_axes(c.site), size = target(c.site);
  const Dim height = extent(c.site, axes[0]), width = extent(c.site, axes[1]);
  const bool windows = c.site.text("interpolation").starts_with("lanczos");
  if (!windows || !height.known() || !width.known()) return;
  const Integers all = {height.value, width.value}, ratio = in_ratio(size, all);
  for (std::size_t d = 0; d < size.size(); ++d) {
    const bool filled = flag(c.site, "pad_to_aspect_ratio");
    const std::int64_t from = std::max<std::int64_t>({filled ? ratio[d] : 0, all[d], 1});
    c.argument(size[d] <= kMostWeights / from, "size",
               fmt::format("at most {} weights along an axis", kMostWeights),
               fmt::format("{} for each of {}", from, size[d]));
  }
}

void require_resizing(Check& c) {
  require_size(c);
  c.one_of("interpolation", {"nearest", "bilinear", "bicubic", "lanczos3", "lanczos5"});
  c.one_of("fill_mode", {"constant"});
  c.argument(!flag(c.site, "crop_to_aspect_ratio") || !flag(c.site, "pad_to_aspect_ratio"),
             "aspect-ratio", "a cut or a border", "both");
  if (c.violations.empty()) require_few_weights(c);
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

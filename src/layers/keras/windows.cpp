#include "layers/keras/windows.h"

#include <fmt/format.h>

namespace assay::keras {

Integers reach(const Site& site, std::string_view kernel) {
  Integers extents = spatial(site, kernel);
  const Integers dilation = spatial(site, "dilation_rate");
  for (std::size_t i = 0; i < extents.size() && i < dilation.size(); ++i) {
    extents[i] = (extents[i] - 1) * dilation[i] + 1;
  }
  return extents;
}

// A pool without strides moves by its own size.
static Integers steps(const Site& site, std::string_view kernel) {
  Integers strides = spatial(site, "strides");
  return strides.empty() ? spatial(site, kernel) : strides;
}

Dims window_counts(const Site& site, std::string_view kernel) {
  const Integers covered = reach(site, kernel), strides = steps(site, kernel);
  const bool valid = site.text("padding") == "valid";
  Dims counts;
  for (std::size_t i = 0; i < covered.size(); ++i) {
    const Dim found = extent(site, spatial_axes(site)[i]);
    const std::int64_t room = found.value - (valid ? covered[i] : 1);
    counts.push_back(found.known() && room >= 0 ? Dim(room / strides[i] + 1) : Dim());
  }
  return counts;
}

Builder::Attributes window_attributes(const Site& site, std::string_view kernel) {
  Builder::Attributes all = {attribute("strides", steps(site, kernel))};
  const Integers dilation = spatial(site, "dilation_rate");
  if (!dilation.empty()) all.push_back(attribute("dilations", dilation));
  const std::string& padding = site.text("padding");
  if (padding == "same") all.push_back(attribute("auto_pad", "SAME_UPPER"));
  if (padding == "causal") {
    all.push_back(attribute("pads", Integers{reach(site, kernel).front() - 1, 0}));
  }
  return all;
}

void require_windows(Check& c, std::string_view kernel) {
  const Layer& layer = layer_of(c.site);
  c.positive({kernel, "strides", "dilation_rate"});
  if (layer.spatial == 1) {
    c.one_of("padding", {"valid", "same", "causal"});
  } else {
    c.one_of("padding", {"valid", "same"});
  }
  for (std::string_view argument :
       {kernel, std::string_view("strides"), std::string_view("dilation_rate")}) {
    const std::size_t given = spatial(c.site, argument).size();
    if (given == 0 || given == static_cast<std::size_t>(layer.spatial)) continue;
    c.argument(false, "length", fmt::format("{} with {} numbers", argument, layer.spatial),
               fmt::format("{}", given));
  }
  require_spatial(c);
  if (!c.violations.empty() || c.site.text("padding") != "valid") return;
  const Integers covered = reach(c.site, kernel), axes = spatial_axes(c.site);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Dim found = extent(c.site, axes[i]);
    const std::int64_t over = covered[i] - found.value;
    if (!found.known() || over <= 0) continue;
    c.that(false, "Argument Error", "window-fits",
           fmt::format("{} of at most {} along axis {}", kernel, found.value, axes[i]),
           fmt::format("{}", covered[i]), kArgumentBadness * static_cast<double>(over),
           fmt::format("{}: a window of {} does not fit into the {} elements of axis {}",
                       layer.name, covered[i], found.value, axes[i]));
  }
}

}  // namespace assay::keras

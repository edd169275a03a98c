#include "ops/sample_demand.h"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

using Coordinates = SamplingRule::Coordinates;
using Kernel = SamplingRule::Kernel;
using Nearest = SamplingRule::Nearest;

// Before Resize had attributes for it, coordinates were divided by the scale and cut.
bool has_old_coordinates(const Site& site) { return !is_resize(site) || site.version() < 11; }

Coordinates coordinates_of(const std::string& mode) {
  if (mode == "half_pixel_symmetric") return Coordinates::half_pixel_symmetric;
  if (mode == "pytorch_half_pixel") return Coordinates::pytorch_half_pixel;
  if (mode == "align_corners") return Coordinates::align_corners;
  if (mode == "tf_half_pixel_for_nn") return Coordinates::half_pixel_unshifted;
  if (mode == "asymmetric") return Coordinates::asymmetric;
  return mode == "tf_crop_and_resize" ? Coordinates::crop : Coordinates::half_pixel;
}

Nearest nearest_of(const std::string& mode) {
  if (mode == "round_prefer_ceil") return Nearest::prefer_ceil;
  if (mode == "floor") return Nearest::floor;
  return mode == "ceil" ? Nearest::ceil : Nearest::prefer_floor;
}

// Versions from 11 on let an empty tensor stand for an input that is not given.
bool is_given(const Site& site, std::size_t i, std::size_t count) {
  if (!site.has_input(i)) return false;
  const Dims* dims = site.dims(i);
  return count == 0 || !dims || dims->size() != 1 || dims->front().value != 0;
}

std::optional<std::vector<double>> reals_of(const Site& site, std::size_t i) {
  const Tensor* known = site.constant(i);
  if (!known) return std::nullopt;
  return known->reals();
}

void read_inputs(const Site& site, Demand& demand) {
  const std::size_t count = demand.axes.size();
  const bool old = has_old_coordinates(site);
  const std::size_t scales = old ? 1 : 2, sizes = 3;
  if (is_given(site, scales, count)) {
    demand.scales_input = scales;
    demand.scales = reals_of(site, scales);
  }
  if (old) return;
  if (is_given(site, sizes, count)) {
    demand.sizes_input = sizes;
    demand.sizes = site.extents(sizes);
  }
  demand.wants_roi = rule_of(site).coordinates == Coordinates::crop;
  if (demand.wants_roi && is_given(site, 1, count)) {
    demand.roi_input = 1;
    demand.roi = reals_of(site, 1);
  }
}

}  // namespace

bool is_resize(const Site& site) { return site.node().op == "Resize"; }

SamplingRule rule_of(const Site& site) {
  SamplingRule rule;
  const std::string& mode = site.text("mode");
  rule.kernel = mode == "nearest" ? Kernel::nearest
                : mode == "cubic" ? Kernel::cubic
                                  : Kernel::linear;
  if (has_old_coordinates(site)) {
    rule.coordinates = Coordinates::asymmetric;
    rule.nearest = is_resize(site) ? Nearest::simple : Nearest::floor;
    return rule;
  }
  rule.coordinates = coordinates_of(site.text("coordinate_transformation_mode"));
  rule.nearest = nearest_of(site.text("nearest_mode"));
  rule.antialias = site.integer("antialias") != 0 && rule.kernel != Kernel::nearest;
  rule.exclude_outside = site.integer("exclude_outside") != 0 && rule.kernel != Kernel::nearest;
  rule.cubic_a = site.real("cubic_coeff_a", -0.75);
  return rule;
}

Demand demand_of(const Site& site, std::size_t rank) {
  Demand demand;
  if (site.has("axes") && is_resize(site)) {
    for (std::int64_t axis : site.integers("axes"))
      if (const auto d = normalize_axis(axis, static_cast<std::int64_t>(rank)))
        demand.axes.push_back(static_cast<std::size_t>(*d));
  } else {
    for (std::size_t d = 0; d < rank; ++d) demand.axes.push_back(d);
  }
  if (is_resize(site) || site.version() >= 9) {
    read_inputs(site, demand);
  } else if (site.version() >= 7) {
    demand.scales = site.reals("scales");
  } else if (rank == 4) {
    demand.axes = {2, 3};
    demand.scales = {site.real("height_scale"), site.real("width_scale")};
  }
  return demand;
}

double scaled_extent(std::int64_t extent, double scale, double span) {
  const float product =
      static_cast<float>(extent) * static_cast<float>(span) * static_cast<float>(scale);
  return std::floor(static_cast<double>(product));
}

double span_of(const Demand& demand, std::size_t i) {
  return demand.roi ? (*demand.roi)[demand.axes.size() + i] - (*demand.roi)[i] : 1;
}

Policy policy_of(const Site& site) {
  const std::string& policy = site.text("keep_aspect_ratio_policy");
  if (policy == "not_larger") return Policy::not_larger;
  return policy == "not_smaller" ? Policy::not_smaller : Policy::stretch;
}

std::size_t deciding(const Demand& demand, const Dims& x, Policy policy) {
  std::size_t best = 0;
  const auto scale = [&](std::size_t i) {
    return static_cast<double>((*demand.sizes)[i].value) /
           static_cast<double>(x[demand.axes[i]].value);
  };
  for (std::size_t i = 1; i < demand.axes.size(); ++i)
    if (policy == Policy::not_larger ? scale(i) < scale(best) : scale(i) > scale(best)) best = i;
  return best;
}

std::vector<SampledAxis> sampled_axes(const Site& site, const Demand& demand, const Dims& x) {
  std::vector<SampledAxis> axes(x.size());
  for (std::size_t d = 0; d < x.size(); ++d) axes[d].input = axes[d].output = x[d].value;
  const Policy policy = policy_of(site);
  const bool known = std::all_of(demand.axes.begin(), demand.axes.end(),
                                 [&](std::size_t d) { return x[d].known(); });
  const bool sized = demand.sizes && std::all_of(demand.sizes->begin(), demand.sizes->end(),
                                                 [](const Dim& size) { return size.known(); });
  const bool shared = demand.by_sizes() && policy != Policy::stretch && !demand.axes.empty();
  const std::size_t leader = shared && known && sized ? deciding(demand, x, policy) : 0;
  for (std::size_t i = 0; i < demand.axes.size(); ++i) {
    SampledAxis& axis = axes[demand.axes[i]];
    axis.output = -1;
    if (demand.roi) {
      axis.start = {(*demand.roi)[i], 0};
      axis.end = {(*demand.roi)[demand.axes.size() + i], 0};
    }
    if (shared) {
      if (!known || !sized) continue;
      axis.numerator = static_cast<double>((*demand.sizes)[leader].value);
      axis.denominator = static_cast<double>(x[demand.axes[leader]].value);
      axis.output = static_cast<std::int64_t>(
          std::floor(static_cast<double>(axis.input) * axis.numerator / axis.denominator + 0.5));
    } else if (demand.by_sizes()) {
      if (!demand.sizes || !(*demand.sizes)[i].known()) continue;
      axis.output = (*demand.sizes)[i].value;
      axis.numerator = static_cast<double>(axis.output);
      axis.denominator = static_cast<double>(axis.input);
    } else if (demand.scales) {
      axis.numerator = (*demand.scales)[i];
      if (axis.input >= 0 && (!demand.wants_roi || demand.roi))
        axis.output = static_cast<std::int64_t>(
            scaled_extent(axis.input, axis.numerator, span_of(demand, i)));
    }
  }
  return axes;
}

}  // namespace assay

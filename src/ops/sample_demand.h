// What a Resize or an Upsample asks for, by attributes and inputs, in every version.
#pragma once

#include <optional>
#include <vector>

#include "ops/sample_axis.h"
#include "patterns/site.h"

namespace assay {

bool is_resize(const Site& site);
SamplingRule rule_of(const Site& site);

// What the inputs and attributes ask for, as far as it is known.
struct Demand {
  std::vector<std::size_t> axes;  // that it speaks of
  std::optional<std::size_t> scales_input, sizes_input, roi_input;
  std::optional<std::vector<double>> scales;
  std::optional<std::vector<Dim>> sizes;
  std::optional<std::vector<double>> roi;  // starts, then ends; given only where it matters
  bool wants_roi = false;
  bool by_sizes() const { return sizes_input.has_value(); }
};

Demand demand_of(const Site& site, std::size_t rank);

// floor(extent * span * scale) as a product of floats, which scales are: 10 * 0.7 is 7.
double scaled_extent(std::int64_t extent, double scale, double span);
// The part of axis i of the demand that its region covers.
double span_of(const Demand& demand, std::size_t i);

enum class Policy : std::uint8_t { stretch, not_larger, not_smaller };
Policy policy_of(const Site& site);
// Which of the sizes decides the scale of all axes.
std::size_t deciding(const Demand& demand, const Dims& x, Policy policy);

// The axes with extents and scales, as far as they are known; output -1 where it is not. The
// demand must be known to fit the input.
std::vector<SampledAxis> sampled_axes(const Site& site, const Demand& demand, const Dims& x);

}  // namespace assay

// Resize and its forerunner Upsample.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ops/sample_demand.h"
#include "ops/sample_parts.h"
#include "ops/sample_resample.h"
#include "ops/shape_numbers.h"
#include "patterns/array.h"

namespace assay {
namespace {

bool require_words(Check& c) {
  const int version = c.site.version();
  if (!is_resize(c.site)) {
    if (version < 7) return c.one_of("mode", {"nearest", "bilinear"});
    return c.one_of("mode", {"nearest", "linear"});
  }
  if (version < 11) return c.one_of("mode", {"nearest", "linear"});
  bool good = c.one_of("mode", {"nearest", "linear", "cubic"});
  good = c.one_of("nearest_mode", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}) &&
         good;
  if (version >= 18)
    good = c.one_of("keep_aspect_ratio_policy", {"stretch", "not_larger", "not_smaller"}) && good;
  constexpr std::string_view kMode = "coordinate_transformation_mode";
  if (version >= 19)
    return c.one_of(kMode, {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                            "align_corners", "asymmetric", "tf_crop_and_resize"}) &&
           good;
  if (version >= 13)
    return c.one_of(kMode, {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
                            "tf_crop_and_resize"}) &&
           good;
  return c.one_of(kMode, {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
                          "tf_half_pixel_for_nn", "tf_crop_and_resize"}) &&
         good;
}

// A list of `count` numbers in a 1-D input.
bool require_list(Check& c, std::string_view input, std::size_t count) {
  if (!c.rank(input, exactly(1))) return false;
  return c.element_count_is(input, static_cast<std::int64_t>(count));
}

bool require_scales(Check& c, const std::optional<std::vector<double>>& scales, double least) {
  if (!scales) {
    c.undecided("scale-range", "the elements of scales");
    return false;
  }
  for (double scale : *scales)
    if (!(scale >= least && scale > 0 && std::isfinite(scale)))
      return c.argument(false, "scale-range",
                        least > 0 ? "scales of at least 1" : "finite scales above 0",
                        fmt::format("{}", scale));
  return true;
}

bool require_roi(Check& c, const Demand& demand) {
  if (!demand.wants_roi) return true;
  if (!c.argument(demand.roi_input.has_value(), "roi", "roi for tf_crop_and_resize", "none"))
    return false;
  if (!require_list(c, "roi", 2 * demand.axes.size())) return false;
  if (!demand.roi) {
    c.undecided("roi", "the elements of roi");
    return false;
  }
  for (double end : *demand.roi)
    if (!std::isfinite(end))
      return c.argument(false, "roi", "finite numbers", fmt::format("{}", end));
  return true;
}

bool require_sizes(Check& c, const Demand& demand, const Dims& x) {
  if (!require_list(c, "sizes", demand.axes.size())) return false;
  if (!c.site.constant(*demand.sizes_input)) {
    c.undecided("size-range", "the elements of sizes");
    return false;
  }
  const bool shared = policy_of(c.site) != Policy::stretch;
  for (std::size_t i = 0; i < demand.axes.size(); ++i) {
    const std::int64_t size = (*demand.sizes)[i].value;
    if (!c.argument(size >= 0, "size-range", "sizes of at least 0", fmt::format("{}", size)))
      return false;
    const Dim& extent = x[demand.axes[i]];
    if (extent.known() && extent.value == 0 && (size > 0 || shared))
      return c.shape(false, "not-empty", "an axis with elements to resize", to_text(x));
  }
  return true;
}

// Outputs too large for any machine, and filters that reach too far.
void require_output(Check& c, const Demand& demand, const Dims& x) {
  const auto shape = to_shape(x);
  if (!shape) return c.undecided("size", "the shape of X");
  constexpr double kMost = 0x1p62, kMostTaps = 0x1p28;
  if (!demand.by_sizes())
    for (std::size_t i = 0; i < demand.axes.size(); ++i) {
      const double extent =
          scaled_extent((*shape)[demand.axes[i]], (*demand.scales)[i], span_of(demand, i));
      if (!c.argument(extent >= 0 && extent < kMost, "size", "extents from 0 to 2^62",
                      fmt::format("{}", extent)))
        return;
    }
  else if (policy_of(c.site) != Policy::stretch && !demand.axes.empty()) {
    const std::size_t i = deciding(demand, x, policy_of(c.site));
    for (std::size_t d : demand.axes) {
      const double extent = static_cast<double>((*shape)[d]) *
                            static_cast<double>((*demand.sizes)[i].value) /
                            static_cast<double>((*shape)[demand.axes[i]]);
      if (!c.argument(extent < kMost, "size", "extents up to 2^62", fmt::format("{}", extent)))
        return;
    }
  }
  Shape output;
  for (const SampledAxis& axis : sampled_axes(c.site, demand, x)) {
    output.push_back(axis.output);
    const double taps = static_cast<double>(axis.output) * (4 / std::min(axis.scale(), 1.0));
    if (rule_of(c.site).antialias &&
        !c.argument(axis.output == 0 || taps < kMostTaps, "antialias-reach",
                    "a filter of fewer than 2^28 weights", fmt::format("{}", taps)))
      return;
  }
  sensible_size(c, to_dims(output));
}

bool require_element_type(Check& c) {
  const Domain domain = domain_of(c.site.element(0));
  const bool movable = c.site.text("mode") == "nearest";
  return c.argument(movable || (domain != Domain::text && domain != Domain::complex),
                    "weighed-type", "mode nearest for text and complex numbers",
                    c.site.text("mode"));
}

void require_resize(Check& c) {
  const bool words = require_words(c);
  if (!require_element_type(c) || !words) return;
  const auto rank = c.rank_of("X");
  if (!rank) return c.undecided("rank", "the rank of X");
  if (c.site.has("axes") && !c.axes("axes", "X")) return;
  const Demand demand = demand_of(c.site, static_cast<std::size_t>(*rank));
  if (!c.argument(demand.scales_input.has_value() != demand.sizes_input.has_value(),
                  "scales-or-sizes", "either scales or sizes",
                  demand.by_sizes() ? "both" : "neither"))
    return;
  const Dims& x = *c.dims("X");
  if (!require_roi(c, demand)) return;
  if (demand.by_sizes()) {
    if (!require_sizes(c, demand, x)) return;
  } else if (!require_list(c, "scales", demand.axes.size()) ||
             !require_scales(c, demand.scales, 0)) {
    return;
  }
  require_output(c, demand, x);
}

void require_upsample(Check& c) {
  const bool words = require_words(c);
  if (!require_element_type(c) || !words) return;
  const auto rank = c.rank_of("X");
  if (!rank) return c.undecided("rank", "the rank of X");
  if (c.site.version() < 7) {
    if (!c.rank("X", exactly(4))) return;
  } else if (c.site.version() < 9) {
    const std::size_t found = c.site.reals("scales").size();
    if (!c.argument(found == static_cast<std::size_t>(*rank), "length",
                    fmt::format("{} numbers in scales", *rank), fmt::format("{}", found)))
      return;
  } else if (!require_list(c, "scales", static_cast<std::size_t>(*rank))) {
    return;
  }
  const Demand demand = demand_of(c.site, static_cast<std::size_t>(*rank));
  if (!require_scales(c, demand.scales, 1)) return;
  require_output(c, demand, *c.dims("X"));
}

// Extents that are asked for with as many numbers as there are axes.
bool fits(const Demand& demand) {
  const std::size_t count = demand.axes.size();
  return (!demand.scales || demand.scales->size() == count) &&
         (!demand.sizes || demand.sizes->size() == count) &&
         (!demand.roi || demand.roi->size() == 2 * count);
}

void infer_resize(Infer& n) {
  const Dims* x = n.dims(0);
  if (!x) return n.output(0, n.element(0));
  const Demand demand = demand_of(n.site, x->size());
  Dims y = *x;
  if (!fits(demand)) {
    for (std::size_t d : demand.axes) y[d] = Dim();
  } else {
    const std::vector<SampledAxis> axes = sampled_axes(n.site, demand, *x);
    for (std::size_t d : demand.axes) y[d] = axes[d].output < 0 ? Dim() : Dim(axes[d].output);
  }
  n.output(0, n.element(0), std::move(y));
}

Bounded bounded_by(const Interval& range) {
  const double middle = range.low / 2 + range.high / 2;
  if (range.nan || !range.has_number() || !std::isfinite(middle)) return Bounded::anything(0);
  return {middle, (1 + 0x1p-50) * std::max(range.high - middle, middle - range.low)};
}

// A region whose ends are ranges, or only known up to an error.
void move_region(const Demand& demand, const Value& roi, std::vector<SampledAxis>& axes) {
  std::vector<Bounded> ends;
  if (roi.intervals())
    for (const Interval& range : *roi.intervals()) ends.push_back(bounded_by(range));
  else
    ends = load<Bounded>(roi).data;
  for (std::size_t i = 0; i < demand.axes.size(); ++i) {
    axes[demand.axes[i]].start = ends[i];
    axes[demand.axes[i]].end = ends[demand.axes.size() + i];
  }
}

void evaluate_resize(Call& call) {
  const Dims x = to_dims(call.input(0).shape());
  const Demand demand = demand_of(call.site, x.size());
  for (const auto& input : {demand.scales_input, demand.sizes_input})
    if (input) call.exact(*input);
  std::vector<SampledAxis> axes = sampled_axes(call.site, demand, x);
  if (demand.roi_input && !demand.roi) {
    if (!demand.by_sizes()) call.exact(*demand.roi_input);  // it decides the extents
    move_region(demand, call.input(*demand.roi_input), axes);
  }
  call.outputs[0] =
      resampled(call, rule_of(call.site), axes, call.site.real("extrapolation_value"));
}

// The scale is the quotient of the whole lengths, not the number that was given.
void scale_from_lengths(Builder& b) {
  const Dims* x = b.site().dims(0);
  const bool scaled =
      x && b.site().version() >= 11 && b.site().constant(2) && b.site().constant(2)->size() > 0;
  if (!scaled) return b.output(0, b.again().front());
  const Demand demand = demand_of(b.site(), x->size());
  const std::vector<SampledAxis> axes = sampled_axes(b.site(), demand, *x);
  std::vector<std::int64_t> sizes;
  for (std::size_t d : demand.axes) sizes.push_back(axes[d].output);
  const std::string scales =
      b.site().version() >= 13 ? "" : b.constant(Tensor(ElementType::f32, {0}));
  b.output(0, b.again_on({b.input(0), b.input(1), scales, b.integers(sizes)}).front());
}

void antialias_excludes_outside(Builder& b) {
  const bool filtered = b.site().integer("antialias") != 0;
  b.output(0, filtered ? b.again({attribute("exclude_outside", 1)}).front() : b.again().front());
}

void from_the_corner(Builder& b) {
  b.output(0, b.again({attribute("coordinate_transformation_mode", "asymmetric"),
                       attribute("nearest_mode", "floor")})
                  .front());
}

// An axis whose extent stays is left alone, whatever roi says of it.
void roi_of_changed_axes(Builder& b) {
  const Dims* x = b.site().dims(0);
  const Demand demand = demand_of(b.site(), x->size());
  if (!demand.roi) return b.output(0, b.again().front());
  const std::vector<SampledAxis> axes = sampled_axes(b.site(), demand, *x);
  std::vector<double> roi = *demand.roi;
  const std::size_t count = demand.axes.size();
  for (std::size_t i = 0; i < count; ++i)
    if (axes[demand.axes[i]].input == axes[demand.axes[i]].output) roi[i] = 0, roi[count + i] = 1;
  std::vector<std::string> inputs;
  for (std::size_t i = 0; i < b.site().input_count(); ++i) inputs.push_back(b.input(i));
  inputs[1] =
      b.constant(make_tensor(b.site().element(1), {static_cast<std::int64_t>(2 * count)}, roi));
  b.output(0, b.again_on(inputs).front());
}

// Weighted sums of integers cut toward zero.
void integers_are_cut(Builder& b) {
  const ElementType type = b.site().element(0);
  if (!is_integer(type)) return b.output(0, b.again().front());
  std::vector<std::string> inputs;
  for (std::size_t i = 0; i < b.site().input_count(); ++i) inputs.push_back(b.input(i));
  inputs[0] = b("Cast", {inputs[0]}, {attribute("to", static_cast<int>(ElementType::f32))});
  b.output(0, b("Cast", {b.again_on(inputs).front()}, {attribute("to", static_cast<int>(type))}));
}

Operator resize() {
  return {
      .name = "Resize",
      .versions = {10, 11, 13, 18, 19},
      .summary =
          "The tensor at another resolution: each element is a weighted average of the "
          "input's elements around its place.",
      .attributes = {{"antialias", Role::flag},
                     {"axes", Role::axes},
                     {"coordinate_transformation_mode", Role::choice},
                     {"cubic_coeff_a", Role::factor},
                     {"exclude_outside", Role::flag},
                     {"extrapolation_value", Role::factor},
                     {"keep_aspect_ratio_policy", Role::choice},
                     {"mode", Role::choice},
                     {"nearest_mode", Role::choice}},
      .require = require_resize,
      .infer = infer_resize,
      .meaning = custom(Pattern::sample, evaluate_resize),
      .variants = {
          {"scale-from-lengths", Variant::Kind::difference,
           "ONNX Runtime with align_corners, PyTorch with recompute_scale_factor",
           scale_from_lengths},
          {"antialias-excludes-outside", Variant::Kind::difference, "PyTorch, Pillow",
           antialias_excludes_outside},
          {"from-the-corner", Variant::Kind::difference,
           "TensorFlow 1 resize_* without half_pixel_centers, PyTorch's nearest", from_the_corner},
          {"roi-of-changed-axes", Variant::Kind::difference, "ONNX Runtime", roi_of_changed_axes},
          {"integers-are-cut", Variant::Kind::difference, "ONNX Runtime", integers_are_cut}}};
}

std::string resized(Builder& b, const char* coordinates, const char* nearest) {
  std::string scales = b.input(1);
  if (b.site().version() < 9) {
    std::vector<double> factors =
        b.site().version() < 7
            ? std::vector<double>{1, 1, b.site().real("height_scale"), b.site().real("width_scale")}
            : b.site().reals("scales");
    scales = b.constant(
        make_tensor(ElementType::f32, {static_cast<std::int64_t>(factors.size())}, factors));
  }
  const bool nearest_mode = b.site().text("mode") == "nearest";
  return b("Resize", {b.input(0), "", scales},
           {attribute("mode", nearest_mode ? "nearest" : "linear"),
            attribute("coordinate_transformation_mode", coordinates),
            attribute("nearest_mode", nearest)});
}

void half_pixel_upsample(Builder& b) {
  b.output(0, resized(b, "half_pixel", "round_prefer_floor"));
}
void align_corners_upsample(Builder& b) { b.output(0, resized(b, "align_corners", "floor")); }

Operator upsample() {
  return {.name = "Upsample",
          .versions = {1, 7, 9, 10},
          .summary = "The tensor at a higher resolution; its first elements stay in place.",
          .attributes = {{"height_scale", Role::factor},
                         {"mode", Role::choice},
                         {"scales", Role::factors},
                         {"width_scale", Role::factor}},
          .require = require_upsample,
          .infer = infer_resize,
          .meaning = custom(Pattern::sample, evaluate_resize),
          .variants = {{"half-pixel", Variant::Kind::difference,
                        "PyTorch from 0.4 on with align_corners=False", half_pixel_upsample},
                       {"align-corners", Variant::Kind::difference,
                        "PyTorch before 0.4, or with align_corners=True", align_corners_upsample}}};
}

}  // namespace

std::vector<Operator> resize_operators() { return {resize(), upsample()}; }

}  // namespace assay

// Operators that add a border to a tensor or take one away.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ops/layout_moves.h"
#include "ops/shape_numbers.h"
#include "patterns/move.h"
#include "patterns/move_recorder.h"

namespace assay {
namespace {

enum class Border : std::uint8_t { constant, edge, reflect, symmetric, wrap };

Border border_of(const Site& site) {
  const std::string& mode = site.text("mode");
  if (mode == "edge") return Border::edge;
  if (mode == "reflect") return Border::reflect;
  return mode == "wrap" ? Border::wrap : Border::constant;
}

// What is added (or, if negative, taken away) before and behind one axis.
struct AxisPad {
  std::int64_t begin = 0, end = 0;
  std::int64_t cut_begin() const { return std::max<std::int64_t>(-begin, 0); }
  std::int64_t cut_end() const { return std::max<std::int64_t>(-end, 0); }
};

using AxisPads = InlineVector<AxisPad, 4>;

Numbers pad_numbers(const Site& site) {
  return numbers(site, site.version() == 1 ? "paddings" : "pads", 1);
}

// Absent if the numbers are not known yet.
std::optional<AxisPads> axis_pads(const Site& site, std::size_t rank) {
  const Numbers pads = pad_numbers(site), axes = numbers(site, "", 3);
  if (!pads.values || (axes.given && !axes.values)) return std::nullopt;
  AxisPads result(rank);
  const std::size_t count = pads.values->size() / 2;
  const std::vector<std::size_t> places =
      axes.given ? normalized(*axes.values, rank) : std::vector<std::size_t>();
  const std::size_t given = axes.given ? places.size() : rank;
  for (std::size_t i = 0; i < count && i < given; ++i)
    result[axes.given ? places[i] : i] = {(*pads.values)[i], (*pads.values)[i + count]};
  return result;
}

bool require_pad_lists(Check& c) {
  if (c.site.version() >= 11 && !c.rank("pads", exactly(1))) return false;
  if (c.site.version() >= 11) c.element_count_is("constant_value", 1);
  if (c.site.version() >= 18 && !c.rank("axes", exactly(1))) return false;
  const auto rank = c.rank_of("data");
  const Numbers pads = pad_numbers(c.site), axes = numbers(c.site, "", 3);
  if (!rank || !pads.values || (axes.given && !axes.values)) {
    c.undecided("length", "the rank of data and the elements of pads and axes");
    return false;
  }
  if (axes.given && !c.axes("axes", *axes.values, *rank)) return false;
  const auto count = axes.given ? static_cast<std::int64_t>(axes.values->size()) : *rank;
  const auto found = static_cast<std::int64_t>(pads.values->size());
  return found == 2 * count ||
         c.argument(false, "length", fmt::format("{} pads", 2 * count), fmt::format("{}", found));
}

bool require_axis_pad(Check& c, const AxisPad& pad, const Dim& extent, std::size_t axis) {
  if (std::max(pad.begin, pad.end) > kMostElements)
    return c.argument(false, "size", fmt::format("pads of at most {}", kMostElements),
                      fmt::format("{}", std::max(pad.begin, pad.end)));
  if (!extent.known()) {
    c.undecided("cut", fmt::format("extent {} of data", axis));
    return true;
  }
  if (std::min(pad.begin, pad.end) < -extent.value ||
      pad.cut_begin() > extent.value - pad.cut_end())
    return c.argument(false, "cut",
                      fmt::format("at most {} taken from axis {}", extent.value, axis),
                      fmt::format("{} and {}", pad.begin, pad.end));
  const bool empty = pad.cut_begin() + pad.cut_end() == extent.value;
  if (empty && border_of(c.site) != Border::constant && std::max(pad.begin, pad.end) > 0)
    return c.shape(false, "not-empty", fmt::format("elements along axis {} to repeat", axis),
                   "none");
  return true;
}

Dims padded_dims(const Dims& x, const AxisPads& pads) {
  Dims y;
  for (std::size_t d = 0; d < x.size(); ++d) {
    const AxisPad& pad = pads[d];
    if (x[d].known())
      y.push_back(x[d].value + pad.begin + pad.end);
    else
      y.push_back(pad.begin == 0 && pad.end == 0 ? x[d] : Dim());
  }
  return y;
}

void require_pad(Check& c) {
  const bool known_mode = c.site.version() < 19
                              ? c.one_of("mode", {"constant", "reflect", "edge"})
                              : c.one_of("mode", {"constant", "reflect", "edge", "wrap"});
  if (!known_mode || !require_pad_lists(c)) return;
  const Dims& x = *c.dims("data");
  const AxisPads pads = *axis_pads(c.site, x.size());
  for (std::size_t d = 0; d < x.size(); ++d)
    if (!require_axis_pad(c, pads[d], x[d], d)) return;
  sensible_size(c, padded_dims(x, pads));
}

void infer_pad(Infer& n) {
  const Dims* x = n.dims(0);
  if (!x) return n.output(0, n.element(0));
  const auto pads = axis_pads(n.site, x->size());
  n.output(0, n.element(0), pads ? padded_dims(*x, *pads) : Dims(x->size()));
}

// Elements of an axis that come one after the other: `count` of them to place `to`, from place
// `from` in steps of -1, 0 or 1.
struct Run {
  std::int64_t to, from, count, step;
};

// The place inside of an axis of n elements that stands for place `at`, which may lie outside.
std::int64_t mirrored(Border border, std::int64_t at, std::int64_t n) {
  if (border == Border::edge || n == 1) return std::clamp<std::int64_t>(at, 0, n - 1);
  const std::int64_t period = border == Border::wrap      ? n
                              : border == Border::reflect ? 2 * (n - 1)
                                                          : 2 * n;
  const std::int64_t rest = ((at % period) + period) % period;
  if (rest < n) return rest;
  return border == Border::reflect ? period - rest : period - 1 - rest;
}

std::vector<std::int64_t> border_places(Border border, const AxisPad& pad, std::int64_t extent) {
  std::vector<std::int64_t> places;
  const std::int64_t kept = extent - pad.cut_begin() - pad.cut_end();
  const std::int64_t before = std::max<std::int64_t>(pad.begin, 0);
  const std::int64_t behind = std::max<std::int64_t>(pad.end, 0);
  for (std::int64_t at = -before; at < kept + behind; ++at)
    places.push_back(pad.cut_begin() + mirrored(border, at, kept));
  return places;
}

using Runs = InlineVector<Run, 1>;

Runs axis_runs(Border border, const AxisPad& pad, std::int64_t extent) {
  if (border == Border::constant) {
    const std::int64_t kept = extent - pad.cut_begin() - pad.cut_end();
    return {{std::max<std::int64_t>(pad.begin, 0), pad.cut_begin(), kept, 1}};
  }
  Runs runs;
  const std::vector<std::int64_t> places = border_places(border, pad, extent);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::int64_t step = runs.empty() ? 2 : places[i] - places[i - 1];
    if (!runs.empty() && std::abs(step) < 2 &&
        (runs.back().count == 1 || runs.back().step == step)) {
      runs.back().step = step;
      ++runs.back().count;
    } else {
      runs.push_back({static_cast<std::int64_t>(i), places[i], 1, 1});
    }
  }
  return runs;
}

void add_run(const Run& run, std::int64_t from_stride, std::int64_t to_stride, Region& region) {
  region.extents.push_back(run.count);
  region.from += run.from * from_stride;
  region.to += run.to * to_stride;
  region.from_strides.push_back(run.step * from_stride);
  region.to_strides.push_back(to_stride);
}

// A region for each way to take one run from each axis.
std::vector<Region> product_of_runs(const std::vector<Runs>& runs, const Shape& x, const Shape& y) {
  const Shape from = strides_of(x), to = strides_of(y);
  std::vector<Region> regions(1);
  for (std::size_t d = 0; d < x.size(); ++d) {
    if (runs[d].size() == 1) {
      for (Region& region : regions) add_run(runs[d].front(), from[d], to[d], region);
      continue;
    }
    std::vector<Region> longer;
    longer.reserve(regions.size() * runs[d].size());
    for (const Region& region : regions)
      for (const Run& run : runs[d]) add_run(run, from[d], to[d], longer.emplace_back(region));
    regions = std::move(longer);
  }
  return regions;
}

// Many small runs (a wide border about a narrow tensor) make more regions than elements: then axis
// by axis, each with an index list.
Value padded_by_axes(const Call& call, Border border, const AxisPads& pads) {
  Value value = call.input(0);
  for (std::size_t d = 0; d < pads.size(); ++d) {
    if (pads[d].begin == 0 && pads[d].end == 0) continue;
    const Shape x = value.shape();
    const std::vector<std::int64_t> places = border_places(border, pads[d], x[d]);
    Shape y = x;
    y[d] = static_cast<std::int64_t>(places.size());
    std::int64_t outer = 1, inner = 1;
    for (std::size_t i = 0; i < x.size(); ++i) (i < d ? outer : inner) *= i == d ? 1 : x[i];
    Sources sources{{0}, {}, {}, inner};
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t place : places) sources.indices.push_back((o * x[d] + place) * inner);
    const Call step{call.site, call.reading, std::span<const Value>(&value, 1),
                    {},        {},           call.evaluator};
    Value next = gathered(step, sources, value.type(), y);
    value = std::move(next);
  }
  return value;
}

void evaluate_pad(Call& call) {
  exact_numbers(call, "pads", 1);
  if (call.has(3)) call.exact(3);
  constexpr std::size_t kMostRegions = 1024;
  const Shape &x = call.input(0).shape(), y = call.output_shape(0);
  if (element_count(y) == 0) {
    call.outputs[0] = Tensor(call.output_type(0), y);
    return;
  }
  const AxisPads pads = *axis_pads(call.site, x.size());
  const Border border = border_of(call.site);
  // Lists of places are as long as the output: whether there is room for it comes first.
  constexpr std::int64_t kMany = std::int64_t{1} << 22;
  if (!recording_moves() && element_count(y) > kMany) {
    Tensor::require_room(call.output_type(0), y);
  } else if (border != Border::constant && std::ranges::max(y) > kMany) {
    throw InexactDecision("the border is too long to follow");
  }
  std::vector<Runs> runs;
  runs.reserve(x.size());
  std::size_t regions = 1;
  for (std::size_t d = 0; d < x.size(); ++d) {
    runs.push_back(axis_runs(border, pads[d], x[d]));
    regions = std::min(regions * runs.back().size(), kMostRegions + 1);
  }
  if (regions > kMostRegions) {
    call.outputs[0] = padded_by_axes(call, border, pads);
    return;
  }
  Movement movement{product_of_runs(runs, x, y), {}, border != Border::constant};
  std::vector<Value> filled;
  if (border == Border::constant && call.has(2)) {
    movement.fill = 2;
  } else if (call.site.has("value")) {
    filled.assign(call.inputs.begin(), call.inputs.end());
    movement.fill = filled.size();
    filled.push_back(make_scalar(call.input(0).type(), call.site.real("value")));
  }
  const Call with_value{call.site, call.reading, filled, {}, {}, call.evaluator};
  call.outputs[0] = moved(filled.empty() ? call : with_value, movement, call.output_type(0), y);
}

// The border repeats the outermost elements too: what numpy and TensorFlow call symmetric.
void edge_is_mirrored_too(Builder& b) {
  const Dims& x = *b.site().dims(0);
  const auto pads = axis_pads(b.site(), x.size());
  if (border_of(b.site()) != Border::reflect) return b.output(0, b.again().front());
  std::string value = b.input(0);
  for (std::size_t d = 0; d < x.size(); ++d)
    value =
        b("Gather", {value, b.integers(border_places(Border::symmetric, (*pads)[d], x[d].value))},
          {attribute("axis", static_cast<std::int64_t>(d))});
  b.output(0, value);
}

Operator pad() {
  return {.name = "Pad",
          .versions = {1, 2, 11, 13, 18, 19, 21, 23, 24, 25},
          .summary =
              "A border around the tensor: one value, the edge, a reflection, or wrapped; a "
              "negative border is cut away.",
          .attributes = {{"mode", Role::choice},
                         {"paddings", Role::pads},
                         {"pads", Role::pads},
                         {"value", Role::factor}},
          .require = require_pad,
          .infer = infer_pad,
          .meaning = custom(Pattern::move, evaluate_pad),
          .variants = {{"edge-is-mirrored-too", Variant::Kind::difference,
                        "numpy.pad and tf.pad in mode symmetric", edge_is_mirrored_too}}};
}

std::vector<std::size_t> crop_axes(const Site& site, std::size_t rank) {
  if (site.has("axes")) return normalized(site.integers("axes"), rank);
  std::vector<std::size_t> axes;
  for (std::size_t d = 0; d < rank; ++d) axes.push_back(d);
  return axes;
}

void require_center_crop_pad(Check& c) {
  if (!c.rank("shape", exactly(1)) || !c.axes("axes", "input_data")) return;
  const Dims* x = c.dims("input_data");
  if (!x) return c.undecided("length", "the rank of input_data");
  const std::size_t count = crop_axes(c.site, x->size()).size();
  if (!c.extent("shape", 0, static_cast<std::int64_t>(count), "an extent for each axis")) return;
  const Numbers shape = numbers(c.site, "", 1);
  if (!shape.values) return c.undecided("extent-range", "the elements of shape");
  Dims y = *x;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t extent = (*shape.values)[i];
    if (extent < 0) {
      c.argument(false, "extent-range", "extents of 0 or more", fmt::format("{}", extent));
      return;
    }
    y[crop_axes(c.site, x->size())[i]] = extent;
  }
  sensible_size(c, y);
}

void infer_center_crop_pad(Infer& n) {
  const Dims* x = n.dims(0);
  if (!x) return n.output(0, n.element(0));
  const auto shape = dims_from_input(n.site, 1);
  const std::vector<std::size_t> axes = crop_axes(n.site, x->size());
  Dims y = *x;
  for (std::size_t i = 0; i < axes.size(); ++i)
    y[axes[i]] = shape && i < shape->size() ? (*shape)[i] : Dim();
  n.output(0, n.element(0), std::move(y));
}

std::vector<Movement> center_crop_pad_movement(const Call& call) {
  call.exact(1);
  const Shape &x = call.input(0).shape(), y = call.output_shape(0);
  if (x == y) return {whole(0)};
  std::vector<Runs> runs;
  runs.reserve(x.size());
  for (std::size_t d = 0; d < x.size(); ++d) {
    const std::int64_t cut = std::max<std::int64_t>(x[d] - y[d], 0) / 2;
    const std::int64_t added = std::max<std::int64_t>(y[d] - x[d], 0) / 2;
    runs.push_back({{added, cut, std::min(x[d], y[d]), 1}});
  }
  return {{product_of_runs(runs, x, y), {}, false}};
}

// torchvision rounds half of what is cut to the nearest even number.
void start_is_rounded(Builder& b) {
  const Dims& x = *b.site().dims(0);
  const std::vector<std::size_t> axes = crop_axes(b.site(), x.size());
  const std::vector<std::int64_t> shape = *numbers(b.site(), "", 1).values;
  std::vector<std::int64_t> starts, ends, places(axes.begin(), axes.end());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto cut = static_cast<double>(std::max<std::int64_t>(x[axes[i]].value - shape[i], 0));
    starts.push_back(static_cast<std::int64_t>(std::nearbyint(cut / 2)));
    ends.push_back(starts.back() + std::min(shape[i], x[axes[i]].value));
  }
  const std::string cropped =
      b("Slice", {b.input(0), b.integers(starts), b.integers(ends), b.integers(places)});
  b.output(0, b("CenterCropPad", {cropped, b.input(1)}, {attribute("axes", places)}));
}

Operator center_crop_pad() {
  return {.name = "CenterCropPad",
          .versions = {18},
          .summary = "The middle of the input, cut or bordered with zeros to the given extents.",
          .attributes = {{"axes", Role::axes}},
          .require = require_center_crop_pad,
          .infer = infer_center_crop_pad,
          .meaning = move(center_crop_pad_movement),
          .variants = {{"start-is-rounded", Variant::Kind::difference,
                        "torchvision.transforms.functional.center_crop", start_is_rounded}}};
}

}  // namespace

std::vector<Operator> layout_border_operators() { return {center_crop_pad(), pad()}; }

}  // namespace assay

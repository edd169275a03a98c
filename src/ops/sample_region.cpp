// Pooling over regions of interest.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/parallel.h"
#include "ops/output_type.h"
#include "ops/sample_parts.h"
#include "ops/sample_point.h"
#include "ops/shape_numbers.h"
#include "patterns/compute.h"

namespace assay {
namespace {

constexpr double kMostSamples = 0x1p32;  // of all regions
constexpr double kMostInBin = 0x1p20;

// What the attributes say.
struct RegionRule {
  std::int64_t height, width, sampling_ratio;
  double scale;
  bool shifted, maximum;
  explicit RegionRule(const Site& site)
      : height(site.integer("output_height")),
        width(site.integer("output_width")),
        sampling_ratio(site.integer("sampling_ratio")),
        scale(site.real("spatial_scale")),
        shifted(site.text("coordinate_transformation_mode") == "half_pixel"),
        maximum(site.text("mode") == "max") {}
};

// One axis of one region: start, and the length of a bin.
template <class S>
struct Bins {
  S start, length;
  std::int64_t count;         // of bins
  std::int64_t fewest, most;  // samples in a bin
  std::int64_t extent;        // of the image
};

template <class S>
Bins<S> bins_of(const RegionRule& rule, const S& from, const S& to, std::int64_t count,
                std::int64_t extent) {
  const S scale = constant<S>(rule.scale);
  const S shift = constant<S>(rule.shifted ? 0.5 : 0.0);
  const S start = from * scale - shift, end = to * scale - shift;
  const S span = rule.shifted ? end - start : max(end - start, constant<S>(1.0));
  Bins<S> bins{start,
               span / constant<S>(static_cast<double>(count)),
               count,
               rule.sampling_ratio,
               rule.sampling_ratio,
               extent};
  if (rule.sampling_ratio > 0) return bins;
  const PlaceRange samples = place_range(bins.length);
  const double low = std::ceil(samples.low), high = std::ceil(samples.high);
  if (!(high - low <= 1)) {
    if (!std::same_as<S, double>) throw InexactDecision("the samples of a region are not certain");
    throw EvaluationError("RoiAlign.region", "a region has no finite extent");
  }
  if (!(high < kMostSamples))
    throw EvaluationError("RoiAlign.region", "a region has too many samples");
  bins.fewest = static_cast<std::int64_t>(std::max(low, 0.0));
  bins.most = static_cast<std::int64_t>(std::max(high, 0.0));
  return bins;
}

// The ways to read the image along one axis at a place; none if there are too many.
template <class S>
std::vector<Cell<S>> sample_cells(const S& place, std::int64_t extent) {
  PlaceRange at = place_range(place);
  std::vector<Cell<S>> result;
  const auto last = static_cast<double>(extent - 1);
  const auto outside = [&](double x) { return !(x >= -1 && x <= static_cast<double>(extent)); };
  if (at.too_wide() && !std::same_as<S, double>) return result;
  const auto add = [&](double cell, const PlaceRange& x) {
    Cell<S> taps;
    const S r = fraction<S>(x, cell);
    taps.add(static_cast<std::int64_t>(std::clamp(cell, 0.0, last)), constant<S>(1.0) - r);
    if (cell < last) taps.add(static_cast<std::int64_t>(cell) + 1, r);
    result.push_back(std::move(taps));
  };
  const auto add_inside = [&] {
    const PlaceRange x = {std::clamp(at.value, 0.0, last), std::clamp(at.low, 0.0, last),
                          std::clamp(at.high, 0.0, last)};
    const double best = std::floor(x.value);
    if (best >= last) {
      add(last, {last, last, last});
    } else {
      add(best, x);
    }
    for (double cell = std::floor(x.low); cell <= std::min(x.high, last); ++cell)
      if (cell != best) cell >= last ? add(last, {last, last, last}) : add(cell, x);
  };
  const bool may_be_inside = at.high >= -1 && at.low <= static_cast<double>(extent);
  if (outside(at.value)) {
    result.emplace_back();
    if (may_be_inside) add_inside();
  } else {
    add_inside();
    if (outside(at.low) || outside(at.high)) result.emplace_back();
  }
  return result;
}

template <class S>
S sample_place(const Bins<S>& bins, std::int64_t bin, std::int64_t i, std::int64_t samples) {
  const S steps = constant<S>(static_cast<double>(bin)) * bins.length;
  const S inner = constant<S>(static_cast<double>(i) + 0.5) * bins.length /
                  constant<S>(static_cast<double>(samples));
  return bins.start + steps + inner;
}

// One way to read a channel at a sample.
template <class S>
struct Corners {
  std::vector<std::int64_t> offsets;
  std::vector<S> weights;
};

// The ways to read a channel at each sample of a bin, the value's own first; a sample with none may
// be anywhere.
template <class S>
using BinSamples = std::vector<std::vector<Corners<S>>>;

template <class S>
std::vector<Corners<S>> corners_of(const std::vector<Cell<S>>& down,
                                   const std::vector<Cell<S>>& across, std::int64_t width) {
  std::vector<Corners<S>> ways;
  for (const Cell<S>& row : down)
    for (const Cell<S>& column : across) {
      Corners<S>& corners = ways.emplace_back();
      for (std::size_t i = 0; i < row.index.size(); ++i)
        for (std::size_t j = 0; j < column.index.size(); ++j) {
          corners.offsets.push_back(row.index[i] * width + column.index[j]);
          corners.weights.push_back(row.weight[i] * column.weight[j]);
        }
    }
  return ways;
}

// A bin with a x b samples.
template <class S>
BinSamples<S> bin_samples(const Bins<S>& rows, const Bins<S>& columns, std::int64_t h,
                          std::int64_t w, std::int64_t a, std::int64_t b) {
  std::vector<std::vector<Cell<S>>> across;
  for (std::int64_t j = 0; j < b; ++j)
    across.push_back(sample_cells(sample_place(columns, w, j, b), columns.extent));
  BinSamples<S> samples;
  for (std::int64_t i = 0; i < a; ++i) {
    const auto down = sample_cells(sample_place(rows, h, i, a), rows.extent);
    for (const auto& cells : across) samples.push_back(corners_of(down, cells, columns.extent));
  }
  return samples;
}

struct RoiAlign {
  RegionRule rule;
  explicit RoiAlign(const Call& call) : rule(call.site) {}

  template <class S>
  void operator()(Frame<S>& f) const {
    require_room(f.call());
    const Array<S> x = f.input(0), regions = f.input(1);
    const std::vector<std::int64_t> batch = f.exact(2).integers();
    for (std::int64_t index : batch)
      if (index < 0 || index >= x.shape[0])
        throw EvaluationError("RoiAlign.index-range",
                              fmt::format("batch index {} of {}", index, x.shape[0]));
    Array<S> y(f.output_shape(0));
    const std::int64_t channels = x.shape[1], size = x.shape[2] * x.shape[3];
    const Rounding& rules = rounding();
    parallel_for(
        static_cast<std::int64_t>(batch.size()), 1, [&](std::int64_t begin, std::int64_t end) {
          const RoundingScope scope(rules);
          for (std::int64_t r = begin; r < end; ++r) {
            const S* region = regions.data.data() + 4 * r;
            const auto columns = bins_of(rule, region[0], region[2], rule.width, x.shape[3]);
            const auto rows = bins_of(rule, region[1], region[3], rule.height, x.shape[2]);
            limit_samples(rows.most, columns.most, batch.size());
            pool(rows, columns,
                 x.data.data() + batch[static_cast<std::size_t>(r)] * channels * size, channels,
                 y.data.data() + r * channels * rule.height * rule.width);
          }
        });
    f.output(0, y);
  }

  void limit_samples(std::int64_t rows, std::int64_t columns, std::size_t regions) const {
    const double in_bin = static_cast<double>(rows) * static_cast<double>(columns);
    const double all = in_bin * static_cast<double>(rule.height) * static_cast<double>(rule.width) *
                       static_cast<double>(regions);
    if (in_bin > kMostInBin || all > kMostSamples)
      throw EvaluationError("RoiAlign.region", "the regions have too many samples");
  }

  // All channels of one region.
  template <class S>
  void pool(const Bins<S>& rows, const Bins<S>& columns, const S* image, std::int64_t channels,
            S* y) const {
    const std::int64_t size = rows.extent * columns.extent, bins = rule.height * rule.width;
    std::vector<S> buffer;
    for (std::int64_t at = 0; at < bins; ++at)
      for (std::int64_t a = rows.fewest; a <= rows.most; ++a)
        for (std::int64_t b = columns.fewest; b <= columns.most; ++b) {
          const BinSamples<S> samples =
              bin_samples(rows, columns, at / rule.width, at % rule.width, a, b);
          const bool first = a == rows.fewest && b == columns.fewest;
          for (std::int64_t c = 0; c < channels; ++c) {
            const S value = pooled(samples, image + c * size, size, buffer);
            S& out = y[c * bins + at];
            out = first ? value : hull(out, value);
          }
        }
  }

  template <class S>
  S pooled(const BinSamples<S>& samples, const S* channel, std::int64_t size,
           std::vector<S>& buffer) const {
    if (samples.empty()) return zero<S>();
    std::vector<S> values;
    values.reserve(samples.size());
    for (const auto& ways : samples) {
      if (ways.empty()) {
        values.push_back(any_of(channel, size, 1));
        continue;
      }
      S value = weigh(ways[0], channel, buffer);
      for (std::size_t w = 1; w < ways.size(); ++w)
        value = hull(value, weigh(ways[w], channel, buffer));
      values.push_back(value);
    }
    if (rule.maximum) return maximum(std::span<const S>(values));
    return mean(std::span<const S>(values));
  }

  // The sum of the weighted corners; in mode `max` the standard's tests take their maximum.
  template <class S>
  S weigh(const Corners<S>& corners, const S* channel, std::vector<S>& buffer) const {
    buffer.clear();
    for (std::int64_t offset : corners.offsets) buffer.push_back(channel[offset]);
    if (!rule.maximum) return dot(std::span<const S>(corners.weights), std::span<const S>(buffer));
    for (std::size_t i = 0; i < buffer.size(); ++i) buffer[i] = corners.weights[i] * buffer[i];
    if (buffer.size() < 4) buffer.push_back(zero<S>());  // corners on the edge have no weight
    return maximum(std::span<const S>(buffer));
  }
};

void require_roi_align(Check& c) {
  bool good = c.one_of("mode", {"avg", "max"});
  if (c.site.version() >= 16)
    good = c.one_of("coordinate_transformation_mode", {"half_pixel", "output_half_pixel"}) && good;
  good = c.positive({"output_height", "output_width"}) && good;
  good = c.not_negative({"sampling_ratio"}) && good;
  good = c.argument(std::isfinite(c.site.real("spatial_scale")), "finite", "a finite spatial_scale",
                    fmt::format("{}", c.site.real("spatial_scale"))) &&
         good;
  good = c.rank("X", exactly(4)) && c.rank("rois", exactly(2)) && good;
  if (!c.rank("batch_indices", exactly(1)) || !good) return;
  c.extent("rois", 1, Dim(4), "the corners of a region");
  c.extent("rois", 0, (*c.dims("batch_indices"))[0], "the number of regions");
  const Dims& x = *c.dims("X");
  for (std::size_t d : {2u, 3u})
    if (x[d].known() && x[d].value == 0)
      c.shape(false, "not-empty", "spatial extents above 0", to_text(x));
  const RegionRule rule(c.site);
  const double samples = static_cast<double>(rule.height) * static_cast<double>(rule.width) *
                         std::pow(static_cast<double>(rule.sampling_ratio), 2);
  c.argument(std::pow(static_cast<double>(rule.sampling_ratio), 2) <= kMostInBin, "samples",
             "at most 2^20 samples in a bin", fmt::format("{}", rule.sampling_ratio));
  c.argument(samples < kMostSamples, "samples", "fewer than 2^32 samples in a region",
             fmt::format("{}", samples));
  const Dim& regions = (*c.dims("rois"))[0];
  if (regions.known() && x[1].known())
    sensible_size(c, {regions, x[1], Dim(rule.height), Dim(rule.width)});
}

void infer_roi_align(Infer& n) {
  const Dims *x = n.dims(0), *regions = n.dims(1), *batch = n.dims(2);
  Dim count = regions && regions->size() == 2 ? (*regions)[0] : Dim();
  if (!count.known() && batch && batch->size() == 1) count = (*batch)[0];
  n.output(0, n.element(0),
           {count, x && x->size() == 4 ? (*x)[1] : Dim(), Dim(n.site.integer("output_height")),
            Dim(n.site.integer("output_width"))});
}

void without_shift(Builder& b) {
  if (b.site().version() < 16) return b.output(0, b.again().front());
  b.output(0, b.again({attribute("coordinate_transformation_mode", "output_half_pixel")}).front());
}

Operator roi_align() {
  return {
      .name = "RoiAlign",
      .versions = {10, 16, 22},
      .summary =
          "Regions of an image, each pooled to a grid of bins that are sampled between "
          "the pixels.",
      .attributes = {{"coordinate_transformation_mode", Role::choice},
                     {"mode", Role::choice},
                     {"output_height", Role::count},
                     {"output_width", Role::count},
                     {"sampling_ratio", Role::count},
                     {"spatial_scale", Role::factor}},
      .require = require_roi_align,
      .infer = infer_roi_align,
      .meaning = compute<RoiAlign>(Pattern::sample),
      .variants = {{"without-shift", Variant::Kind::difference,
                    "torchvision.ops.roi_align with aligned=False, its default", without_shift}}};
}

}  // namespace

std::vector<Operator> region_operators() { return {roi_align()}; }

}  // namespace assay

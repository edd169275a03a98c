// Pooling over regions that are given as data, and over neighbouring channels.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ops/pool.h"
#include "ops/window_checks.h"
#include "patterns/compute.h"

namespace assay {
namespace {

// x / (bias + alpha / size · Σ x²)^beta, the sum over `size` channels around x's own.
struct Lrn {
  double alpha, beta, bias;
  std::int64_t size;
  explicit Lrn(const Call& call)
      : alpha(call.site.real("alpha")),
        beta(call.site.real("beta")),
        bias(call.site.real("bias")),
        size(call.site.integer("size")) {}

  template <class S>
  void operator()(Frame<S>& frame) const {
    const Array<S> x = frame.input(0);
    Array<S> y(x.shape);
    const std::int64_t channels = x.shape[1];
    const std::int64_t plane = element_count(std::span(x.shape).subspan(2));
    const std::int64_t before = std::min((size - 1) / 2, channels),
                       behind = std::min(size / 2, channels);
    const S weight = constant<S>(alpha) / constant<S>(static_cast<double>(size));
    std::vector<S> region;
    for (std::int64_t i = 0; i < y.size(); ++i) {
      const std::int64_t c = i / plane % channels;
      const std::int64_t first = std::max<std::int64_t>(0, c - before);
      const std::int64_t last = std::min(channels - 1, c + behind);
      region.clear();
      for (std::int64_t other = first; other <= last; ++other)
        region.push_back(x[i + (other - c) * plane]);
      const S base = constant<S>(bias) + weight * sum_of_squares(std::span<const S>(region));
      y[i] = x[i] / pow(base, constant<S>(beta));
    }
    frame.output(0, y);
  }
};

Operator lrn() {
  return {.name = "LRN",
          .versions = {1, 13},
          .summary = "Each element divided by a power of the squares of the channels around it.",
          .attributes = {{"alpha", Role::factor},
                         {"beta", Role::factor},
                         {"bias", Role::factor},
                         {"size", Role::count}},
          .require =
              [](Check& c) {
                c.rank("X", at_least(2));
                c.positive({"size"});
              },
          .infer = same_as_first,
          .meaning = compute<Lrn>(Pattern::windowed)};
}

// The part of one axis of a region that falls into bin `bin` of `bins`, inside of the input.
struct Bin {
  std::int64_t begin, end;
};
Bin bin_of(double first, double last, std::int64_t bin, std::int64_t bins, std::int64_t extent) {
  constexpr double kFar = 0x1p40;
  const auto start = static_cast<std::int64_t>(std::clamp(std::round(first), -kFar, kFar));
  const auto stop = static_cast<std::int64_t>(std::clamp(std::round(last), -kFar, kFar));
  const std::int64_t length = std::max<std::int64_t>(stop - start + 1, 1);
  // length * bin may exceed 64 bits only for regions that no input holds.
  const __int128 wide = length;
  const auto low = static_cast<std::int64_t>(wide * bin / bins);
  const auto high = static_cast<std::int64_t>((wide * (bin + 1) + bins - 1) / bins);
  return {std::clamp<std::int64_t>(start + low, 0, extent),
          std::clamp<std::int64_t>(start + high, 0, extent)};
}

// As in Fast R-CNN: corners rounded to whole elements, both inclusive; an empty bin gives 0.
struct MaxRoiPool {
  std::vector<std::int64_t> bins;
  double scale;
  explicit MaxRoiPool(const Call& call)
      : bins(call.site.integers("pooled_shape")), scale(call.site.real("spatial_scale", 1)) {}

  template <class S>
  void operator()(Frame<S>& frame) const {
    const std::vector<double> rois = frame.exact(1).reals();
    const Array<S> x = frame.input(0);
    Array<S> y(frame.output_shape(0));
    const std::int64_t channels = x.shape[1], height = x.shape[2], width = x.shape[3];
    std::vector<S> inside;
    for (std::int64_t i = 0; i < y.size(); ++i) {
      const std::int64_t pw = i % bins[1], ph = i / bins[1] % bins[0];
      const std::int64_t c = i / (bins[0] * bins[1]) % channels;
      const double* roi = rois.data() + i / (bins[0] * bins[1] * channels) * 5;
      const std::int64_t batch = batch_of(roi, x.shape[0]);
      const Bin across = bin_of(roi[1] * scale, roi[3] * scale, pw, bins[1], width);
      const Bin down = bin_of(roi[2] * scale, roi[4] * scale, ph, bins[0], height);
      inside.clear();
      for (std::int64_t h = down.begin; h < down.end; ++h)
        for (std::int64_t w = across.begin; w < across.end; ++w)
          inside.push_back(x[((batch * channels + c) * height + h) * width + w]);
      y[i] = inside.empty() ? zero<S>() : maximum(std::span<const S>(inside));
    }
    frame.output(0, y);
  }

 private:
  static std::int64_t batch_of(const double* roi, std::int64_t batches) {
    for (int i = 0; i < 5; ++i)
      if (!std::isfinite(roi[i]))
        throw EvaluationError("MaxRoiPool.finite", "MaxRoiPool needs regions of finite numbers");
    if (!(roi[0] >= 0 && roi[0] < static_cast<double>(batches)))
      throw EvaluationError(
          "MaxRoiPool.index-range",
          fmt::format("MaxRoiPool has a region in batch {} of {}", roi[0], batches));
    return static_cast<std::int64_t>(roi[0]);
  }
};

void require_max_roi_pool(Check& c) {
  c.rank("X", exactly(4));
  if (c.rank("rois", exactly(2))) c.extent("rois", 1, 5, "a batch and two corners");
  const double scale = c.site.real("spatial_scale", 1);
  c.argument(std::isfinite(scale), "range", "a finite spatial_scale", fmt::format("{}", scale));
  if (!c.length("pooled_shape", 2) || !c.positive({"pooled_shape"})) return;
  const Dims *x = c.dims("X"), *rois = c.dims("rois");
  if (!x || !rois || x->size() != 4 || rois->size() != 2) return;
  const std::vector<std::int64_t> bins = c.site.integers("pooled_shape");
  require_size(c, {(*rois)[0], (*x)[1], bins[0], bins[1]});
}

void infer_max_roi_pool(Infer& n) {
  const Dims *x = n.dims(0), *rois = n.dims(1);
  const std::vector<std::int64_t> bins = n.site.integers("pooled_shape");
  if (bins.size() != 2) return n.output(0, n.element(0));
  n.output(0, n.element(0),
           {rois && !rois->empty() ? (*rois)[0] : Dim(), x && x->size() > 1 ? (*x)[1] : Dim(),
            bins[0], bins[1]});
}

Operator max_roi_pool() {
  return {.name = "MaxRoiPool",
          .versions = {1, 22},
          .summary = "The largest element in each bin of each region.",
          .attributes = {{"pooled_shape", Role::sizes}, {"spatial_scale", Role::factor}},
          .require = require_max_roi_pool,
          .infer = infer_max_roi_pool,
          .meaning = compute<MaxRoiPool>(Pattern::sample)};
}

}  // namespace

std::vector<Operator> region_pool_operators() { return {lrn(), max_roi_pool()}; }

}  // namespace assay

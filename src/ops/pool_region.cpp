// Pooling over regions that are given as data, and over neighbouring channels.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ops/candidates.h"
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

// alpha is not divided by the number of channels.
void alpha_not_divided(Builder& b) {
  const double whole = b.site().real("alpha") * static_cast<double>(b.site().integer("size"));
  b.output(0, b.again({attribute("alpha", whole)}).front());
}

// Only as many channels as there are batches have their squares summed.
void channels_counted_by_batches(Builder& b) {
  const Shape x = *to_shape(*b.site().dims(0));
  const double power = std::pow(b.site().real("bias"), b.site().real("beta"));
  Shape mask_shape(x.size(), 1);
  mask_shape[1] = x[1];
  std::vector<double> mask;
  for (std::int64_t c = 0; c < x[1]; ++c) mask.push_back(c < x[0] ? 1 : 0);
  const std::string chosen = b.constant(make_tensor(ElementType::boolean, mask_shape, mask));
  const std::string plain = b("Div", {b.input(0), b.like(0, power)});
  b.output(0, b("Where", {chosen, b.again().front(), plain}));
}

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
          .meaning = compute<Lrn>(Pattern::windowed),
          .variants = {{"alpha-not-divided", Variant::Kind::difference,
                        "TensorFlow's local_response_normalization", alpha_not_divided},
                       {"channels-counted-by-batches", Variant::Kind::defect,
                        "onnx.reference up to 1.23", channels_counted_by_batches}}};
}

// The part of one axis of a region that falls into bin `bin` of `bins`, inside of the input.
struct Bin {
  std::int64_t begin, end;
  auto operator<=>(const Bin&) const = default;
};
Bin bin_of(std::int64_t start, std::int64_t stop, std::int64_t bin, std::int64_t bins,
           std::int64_t extent) {
  // Products may exceed 64 bits for regions that no input holds.
  const __int128 length = std::max<std::int64_t>(stop - start + 1, 1);
  const auto low = static_cast<std::int64_t>(length * bin / bins);
  const auto high = static_cast<std::int64_t>((length * (bin + 1) + bins - 1) / bins);
  return {std::clamp<std::int64_t>(start + low, 0, extent),
          std::clamp<std::int64_t>(start + high, 0, extent)};
}

// Away from zero at a half.
double nearest(double x) { return std::round(x); }
double below(double x) { return std::floor(x); }

// One end of a region along an axis: what it may be rounded to, and what its value is.
struct Corner {
  Candidates all;
  std::int64_t own;
};

// The bins that corners may mean, that of their values first; none if they are too many, or the
// corners may be anything.
std::vector<Bin> bins_of(const Corner& start, const Corner& stop, std::int64_t bin,
                         std::int64_t bins, std::int64_t extent) {
  constexpr double kMost = 256;
  std::vector<Bin> result;
  if (!start.all.sure || !stop.all.sure || start.all.count() * stop.all.count() > kMost)
    return result;
  result.push_back(bin_of(start.own, stop.own, bin, bins, extent));
  for (std::int64_t s = start.all.first; s <= start.all.last; ++s)
    for (std::int64_t e = stop.all.first; e <= stop.all.last; ++e)
      if (const Bin other = bin_of(s, e, bin, bins, extent); other != result.front())
        result.push_back(other);
  return result;
}

// As in Fast R-CNN: corners rounded to whole elements, both inclusive; an empty bin gives 0.
struct MaxRoiPool {
  std::vector<std::int64_t> bins;
  double scale;
  explicit MaxRoiPool(const Call& call)
      : bins(call.site.integers("pooled_shape")), scale(call.site.real("spatial_scale", 1)) {}

  template <class S>
  void operator()(Frame<S>& frame) const {
    const Array<S> x = frame.input(0), rois = frame.input(1);
    Array<S> y(frame.output_shape(0));
    const std::int64_t channels = x.shape[1];
    for (std::int64_t i = 0; i < y.size(); ++i) {
      const std::int64_t pw = i % bins[1], ph = i / bins[1] % bins[0];
      const std::int64_t c = i / (bins[0] * bins[1]) % channels;
      const S* roi = rois.data.data() + i / (bins[0] * bins[1] * channels) * 5;
      const Candidates batches = batches_of(roi, x.shape[0]);
      const auto corner = [&](int j) {
        const S place = constant<S>(scale) * roi[j];
        return Corner{candidates(place, nearest), candidates(to_double(place), nearest).first};
      };
      const auto across = bins_of(corner(1), corner(3), pw, bins[1], x.shape[3]);
      const auto down = bins_of(corner(2), corner(4), ph, bins[0], x.shape[2]);
      y[i] = over_bins(x, batches, c, down, across);
    }
    frame.output(0, y);
  }

 private:
  template <class S>
  static Candidates batches_of(const S* roi, std::int64_t batches) {
    for (int i = 0; std::is_same_v<S, double> && i < 5; ++i)
      if (!std::isfinite(to_double(roi[i])))
        throw EvaluationError("MaxRoiPool.finite", "MaxRoiPool needs regions of finite numbers");
    Candidates found = candidates(roi[0], below);
    if (!found.sure) found = {0, batches - 1};
    const std::int64_t first = std::max<std::int64_t>(found.first, 0);
    const std::int64_t last = std::min(found.last, batches - 1);
    if (first > last)
      throw EvaluationError(
          "MaxRoiPool.index-range",
          fmt::format("MaxRoiPool has a region in batch {} of {}", to_double(roi[0]), batches));
    return {first, last};
  }

  template <class S>
  static S over_bin(const Array<S>& x, std::int64_t plane, const Bin& down, const Bin& across) {
    std::vector<S> inside;
    for (std::int64_t h = down.begin; h < down.end; ++h)
      for (std::int64_t w = across.begin; w < across.end; ++w)
        inside.push_back(x[(plane * x.shape[2] + h) * x.shape[3] + w]);
    return inside.empty() ? zero<S>() : maximum(std::span<const S>(inside));
  }

  // Several bins: what any of them gives.
  template <class S>
  static S over_bins(const Array<S>& x, const Candidates& batches, std::int64_t c,
                     const std::vector<Bin>& down, const std::vector<Bin>& across) {
    const std::int64_t plane = x.shape[2] * x.shape[3];
    std::vector<S> found;
    for (std::int64_t b = batches.first; b <= batches.last; ++b) {
      const std::int64_t channel = b * x.shape[1] + c;
      for (const Bin& rows : down)
        for (const Bin& columns : across) found.push_back(over_bin(x, channel, rows, columns));
      if (down.empty() || across.empty()) {
        found.push_back(zero<S>());
        for (std::int64_t i = 0; i < plane; ++i) found.push_back(x[channel * plane + i]);
      }
    }
    S result = found[0];
    for (const S& other : found) result = hull(result, other);
    return result;
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
  const std::vector<std::int64_t>& bins = c.site.integers("pooled_shape");
  require_size(c, {(*rois)[0], (*x)[1], bins[0], bins[1]});
}

void infer_max_roi_pool(Infer& n) {
  const Dims *x = n.dims(0), *rois = n.dims(1);
  const std::vector<std::int64_t>& bins = n.site.integers("pooled_shape");
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

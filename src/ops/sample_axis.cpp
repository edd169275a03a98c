#include "ops/sample_axis.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "scalar/sequences.h"

namespace assay {
namespace {

using Coordinates = SamplingRule::Coordinates;
using Kernel = SamplingRule::Kernel;
using Nearest = SamplingRule::Nearest;

// x divided by the scale. Frameworks divide by it, or multiply with its reciprocal.
double unscaled(double x, const SampledAxis& axis) { return x * axis.denominator / axis.numerator; }

Bounded unscaled(const Bounded& x, const SampledAxis& axis) {
  if (x.value == 0 && x.is_exact()) return x;
  const Bounded n = rounded(axis.numerator), d = rounded(axis.denominator);
  return hull(hull(x * d / n, x / (n / d)), x * (d / n));
}

template <class S>
S as_scalar(const Bounded& x) {
  if constexpr (std::same_as<S, double>)
    return x.value;
  else if constexpr (std::same_as<S, Bounded>)
    return x;
  else
    return enclose(x);
}

template <class S>
S place(const SamplingRule& rule, const SampledAxis& axis, std::int64_t i) {
  const auto number = [](double x) { return constant<S>(x); };
  const S at = number(static_cast<double>(i)), half = number(0.5);
  const auto steps = static_cast<double>(axis.input - 1);
  const auto length = static_cast<double>(axis.output);
  switch (rule.coordinates) {
    case Coordinates::half_pixel:
      break;
    case Coordinates::pytorch_half_pixel:
      if (axis.output <= 1) return zero<S>();
      break;
    case Coordinates::half_pixel_symmetric: {
      const S whole = number(static_cast<double>(axis.input)) * number(axis.numerator) /
                      number(axis.denominator);
      const S offset =
          number(static_cast<double>(axis.input) / 2) * (number(1) - number(length) / whole);
      return offset + unscaled(at + half, axis) - half;
    }
    case Coordinates::align_corners: {
      if (axis.output <= 1 || i == 0) return zero<S>();
      // The standard's tests take the length before it is cut to a whole number.
      const S whole = number(static_cast<double>(axis.input)) * number(axis.numerator) /
                      number(axis.denominator);
      const S step = number(steps) / (whole - number(1));
      return hull(at * number(steps) / (whole - number(1)), at * step);
    }
    case Coordinates::asymmetric:
      return unscaled(at, axis);
    case Coordinates::half_pixel_unshifted:
      return unscaled(at + half, axis);
    case Coordinates::crop: {
      const S start = as_scalar<S>(axis.start), end = as_scalar<S>(axis.end);
      if (axis.output <= 1) return half * (start + end) * number(steps);
      if (i == 0) return start * number(steps);
      const S span = (end - start) * number(steps);
      return start * number(steps) +
             hull(at * span / number(length - 1), at * (span / number(length - 1)));
    }
  }
  return unscaled(at + half, axis) - half;
}

// The whole number that `nearest` takes for a place.
double nearest_index(Nearest mode, const SampledAxis& axis, double x) {
  switch (mode) {
    case Nearest::prefer_floor:
      return std::ceil(x - 0.5);
    case Nearest::prefer_ceil:
      return std::floor(x + 0.5);
    case Nearest::floor:
      return std::floor(x);
    case Nearest::ceil:
      return std::ceil(x);
    case Nearest::simple:
      return axis.scale() < 1 ? std::ceil(x) : std::floor(x);
  }
  return x;
}

std::int64_t clamped(double index, std::int64_t extent) {
  return static_cast<std::int64_t>(std::clamp(index, 0.0, static_cast<double>(extent - 1)));
}

// The kernel at a distance x, in units of the (stretched) pixel.
template <class S>
S stretched_weight(const SamplingRule& rule, const S& x) {
  const S one = constant<S>(1.0), distance = abs(x);
  if (rule.kernel == Kernel::linear) return max(one - distance, zero<S>());
  const double a = rule.cubic_a;
  const auto number = [](double value) { return constant<S>(value); };
  const S near = (number(a + 2) * distance - number(a + 3)) * distance * distance + one;
  const S far = ((number(a) * distance - number(5 * a)) * distance + number(8 * a)) * distance -
                number(4 * a);
  return select(less_equal(distance, one), near, select(less(distance, number(2)), far, zero<S>()));
}

// The weights of the elements from `begin` on, for a place r behind element `cell`.
template <class S>
std::vector<S> kernel_weights(const SamplingRule& rule, const SampledAxis& axis, const S& r,
                              std::int64_t* begin) {
  if (rule.antialias) {
    const double scale = std::min(axis.scale(), 1.0);
    const double reach = rule.kernel == Kernel::linear ? 1 : 2;
    const auto start = static_cast<std::int64_t>(std::floor(-reach / scale)) + 1;
    *begin += start;
    std::vector<S> weights;
    for (std::int64_t i = start; i < 2 - start; ++i)
      weights.push_back(stretched_weight(
          rule, S((constant<S>(static_cast<double>(i)) - r) * constant<S>(scale))));
    const S total = sum(std::span<const S>(weights));
    for (S& weight : weights) weight = weight / total;
    return weights;
  }
  if (rule.kernel == Kernel::linear) return {constant<S>(1.0) - r, r};
  *begin -= 1;
  std::vector<S> weights(4);
  cubic_weights(r, rule.cubic_a, weights.data());
  return weights;
}

template <class S>
void leave_out_outside(std::int64_t begin, std::int64_t extent, std::vector<S>& weights) {
  bool any = false;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::int64_t at = begin + static_cast<std::int64_t>(i);
    if (at >= 0 && at < extent)
      any = true;
    else
      weights[i] = zero<S>();
  }
  if (!any) return;
  const S total = sum(std::span<const S>(weights));
  for (S& weight : weights) weight = weight / total;
}

template <class S>
class TapsMaker {
 public:
  TapsMaker(const SamplingRule& rule, const SampledAxis& axis) : rule_(rule), axis_(axis) {}

  AxisTaps<S> make() {
    const RoundingScope scope(Rounding::f32());
    for (std::int64_t i = 0; i < axis_.output; ++i) {
      taps_.first.push_back(taps_.choices.size());
      const Bounded at = std::same_as<S, double> ? Bounded{coordinate(rule_, axis_, i), 0}
                                                 : bounded_coordinate(rule_, axis_, i);
      if (rule_.coordinates == Coordinates::crop) mark_outside(i, at);
      if (!is_placed(at)) {
        add_choice({0}, {as_scalar<S>(Bounded::anything(0))});
        taps_.has_unsure = true;
      } else if (rule_.kernel == Kernel::nearest) {
        add_nearest(at);
      } else {
        add_weighted(at);
      }
    }
    taps_.first.push_back(taps_.choices.size());
    return std::move(taps_);
  }

 private:
  // Whether the elements that a place may read can be listed: not for a coordinate that f32 cannot
  // hold, nor where a region moves over so many elements that the list would be larger than they.
  bool is_placed(const Bounded& at) const {
    constexpr double kMostChoices = 0x1p22;
    if (!axis_.has_moving_region()) return at.error < 4;
    const double cells = std::min(2 * at.error, static_cast<double>(axis_.input)) + 2;
    return std::isfinite(at.error) && cells * static_cast<double>(axis_.output) < kMostChoices;
  }

  void mark_outside(std::int64_t i, const Bounded& at) {
    using Taps = AxisTaps<S>;
    const auto last = static_cast<double>(axis_.input - 1);
    const bool may_be_outside = at.value - at.error < 0 || at.value + at.error > last;
    if (!may_be_outside) return;
    const bool is_outside = at.value < 0 || at.value > last;
    const bool must_be = at.value + at.error < 0 || at.value - at.error > last;
    if (taps_.places.empty())
      taps_.places.assign(static_cast<std::size_t>(axis_.output), Taps::inside);
    const bool sure = must_be && is_outside;
    taps_.places[static_cast<std::size_t>(i)] = sure ? Taps::outside : Taps::unsure;
    taps_.has_unsure = taps_.has_unsure || !sure;
  }

  // The choice of the value itself comes first: its value is kept where choices are joined.
  void add_nearest(const Bounded& at) {
    const auto extent = axis_.input;
    const std::int64_t best = clamped(nearest_index(rule_.nearest, axis_, at.value), extent);
    add_choice({best}, {constant<S>(1.0)});
    const auto low = clamped(nearest_index(rule_.nearest, axis_, at.value - at.error), extent);
    const auto high = clamped(nearest_index(rule_.nearest, axis_, at.value + at.error), extent);
    for (std::int64_t other = low; other <= high; ++other)
      if (other != best) add_choice({other}, {constant<S>(1.0)});
  }

  void add_weighted(const Bounded& at) {
    const double extent = static_cast<double>(axis_.input);
    // Far outside every element is the edge; outside of a moving crop none is weighed.
    const double margin = axis_.has_moving_region() ? 1 : 4 * extent + 8;
    const double least = -margin, most = axis_.has_moving_region() ? extent : margin;
    const double value = std::clamp(at.value, least, most);
    const double best = std::floor(value);
    add_cell(best, {value, at.error});
    const double high = std::min(value + at.error, most);
    for (double cell = std::floor(std::max(value - at.error, least)); cell <= high; ++cell)
      if (cell != best) add_cell(cell, {value, at.error});
  }

  // How far a place lies behind the beginning of its cell. A place that a region moves over many
  // cells is taken for each of them as far as it lies within.
  S behind(double cell, const Bounded& at) const {
    const double offset = at.value - cell;
    if (!axis_.has_moving_region()) return as_scalar<S>({offset, at.error});
    const double low = std::clamp(offset - at.error, 0.0, 1.0);
    const double high = std::clamp(offset + at.error, 0.0, 1.0);
    if constexpr (std::same_as<S, Interval>) return {low, high, false};
    const double middle = offset >= low && offset <= high ? offset : low + (high - low) / 2;
    return as_scalar<S>({middle, (1 + 0x1p-50) * std::max(high - middle, middle - low)});
  }

  void add_cell(double cell, const Bounded& at) {
    auto begin = static_cast<std::int64_t>(cell);
    std::vector<S> weights = kernel_weights(rule_, axis_, behind(cell, at), &begin);
    if (rule_.exclude_outside) leave_out_outside(begin, axis_.input, weights);
    std::vector<std::int64_t> index(weights.size());
    for (std::size_t i = 0; i < index.size(); ++i)
      index[i] = std::clamp<std::int64_t>(begin + static_cast<std::int64_t>(i), 0, axis_.input - 1);
    const std::size_t zeros = static_cast<std::size_t>(
        std::count_if(weights.begin(), weights.end(), [](const S& w) { return is_zero(w); }));
    if (zeros > 0 && zeros < weights.size()) {
      // What has no weight is not read; who reads it makes NaN of 0 times infinity.
      if (!std::same_as<S, double>) add_choice(index, weights, false);
      add_choice(index, weights, true);
      if (!std::same_as<S, double>) std::swap(taps_.choices.back(), taps_.choices.end()[-2]);
    } else {
      add_choice(index, weights, false);
    }
  }

  static bool is_zero(double w) { return w == 0; }
  static bool is_zero(const Bounded& w) { return w.value == 0 && w.error == 0; }
  static bool is_zero(const Interval& w) { return w.low == 0 && w.high == 0 && !w.nan; }

  void add_choice(const std::vector<std::int64_t>& index, const std::vector<S>& weights,
                  bool without_zeros = false) {
    const std::size_t begin = taps_.index.size();
    for (std::size_t i = 0; i < index.size(); ++i)
      if (!without_zeros || !is_zero(weights[i])) {
        taps_.index.push_back(index[i]);
        taps_.weight.push_back(weights[i]);
      }
    taps_.choices.push_back({begin, taps_.index.size() - begin});
  }

  const SamplingRule& rule_;
  const SampledAxis& axis_;
  AxisTaps<S> taps_;
};

}  // namespace

bool SampledAxis::is_identity(const SamplingRule& rule) const {
  const bool whole = rule.coordinates != Coordinates::crop ||
                     (!has_moving_region() && start.value == 0 && end.value == 1);
  return input == output && numerator == denominator && whole;
}

double coordinate(const SamplingRule& rule, const SampledAxis& axis, std::int64_t i) {
  return place<double>(rule, axis, i);
}

Bounded bounded_coordinate(const SamplingRule& rule, const SampledAxis& axis, std::int64_t i) {
  const RoundingScope scope(Rounding::f32());
  const double value = coordinate(rule, axis, i);
  const Bounded all = place<Bounded>(rule, axis, i);
  if (all.is_exact() && all.value == value) return all;
  if (all.is_anything()) return Bounded::anything(value);
  return {value, (1 + 0x1p-50) * (std::fabs(all.value - value) + all.error)};
}

template <class S>
AxisTaps<S> axis_taps(const SamplingRule& rule, const SampledAxis& axis) {
  return TapsMaker<S>(rule, axis).make();
}

template AxisTaps<double> axis_taps(const SamplingRule&, const SampledAxis&);
template AxisTaps<Bounded> axis_taps(const SamplingRule&, const SampledAxis&);
template AxisTaps<Interval> axis_taps(const SamplingRule&, const SampledAxis&);

}  // namespace assay

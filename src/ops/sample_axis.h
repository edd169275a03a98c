// How one axis of a tensor is resampled: which input elements an output element weighs, and how.
#pragma once

#include <cstdint>
#include <vector>

#include "scalar/vocabulary.h"
#include "tensor/element_type.h"

namespace assay {

// What the axes of a node have in common.
struct SamplingRule {
  enum class Kernel : std::uint8_t { nearest, linear, cubic };
  enum class Coordinates : std::uint8_t {
    half_pixel,
    half_pixel_symmetric,
    pytorch_half_pixel,
    align_corners,
    asymmetric,
    half_pixel_unshifted,  // (x + 1/2) / scale
    crop
  };
  // `simple`: down where the axis grows, up where it shrinks.
  enum class Nearest : std::uint8_t { prefer_floor, prefer_ceil, floor, ceil, simple };

  Kernel kernel = Kernel::nearest;
  Coordinates coordinates = Coordinates::half_pixel;
  Nearest nearest = Nearest::prefer_floor;
  bool antialias = false, exclude_outside = false;
  double cubic_a = -0.75;
};

struct SampledAxis {
  std::int64_t input = 1, output = 1;     // extents
  double numerator = 1, denominator = 1;  // of the scale
  Bounded start{0, 0}, end{1, 0};         // the region, for Coordinates::crop
  double scale() const { return numerator / denominator; }
  bool has_moving_region() const { return !start.is_exact() || !end.is_exact(); }
  bool is_identity(const SamplingRule& rule) const;
};

// For each output element the ways to compute it: one, unless the rounding of its coordinate to
// f32 lets an evaluation choose otherwise.
template <class S>
struct AxisTaps {
  struct Choice {
    std::size_t begin, count;  // into index and weight; one tap is a copy
  };
  enum Place : std::uint8_t { inside, outside, unsure };  // of a crop

  std::vector<std::size_t> first;  // output element i has choices [first[i], first[i + 1])
  std::vector<Choice> choices;
  std::vector<std::int64_t> index;
  std::vector<S> weight;
  std::vector<Place> places;  // by output element; empty if all are inside
  bool certain() const { return choices.size() + 1 == first.size() && !has_unsure; }
  bool has_unsure = false;
};

// Where output element i lies on the input axis; as a bounded number, with all that evaluations in
// f32 make of it.
double coordinate(const SamplingRule& rule, const SampledAxis& axis, std::int64_t i);
Bounded bounded_coordinate(const SamplingRule& rule, const SampledAxis& axis, std::int64_t i);

template <class S>
AxisTaps<S> axis_taps(const SamplingRule& rule, const SampledAxis& axis);

// The weights of the four elements around a place that lies r behind the second of them.
template <class S>
void cubic_weights(const S& r, double a, S* weights) {
  const auto number = [](double x) { return constant<S>(x); };
  const S one = number(1), c = number(a);
  const auto near = [&](const S& x) { return ((number(a + 2) * x - number(a + 3)) * x) * x + one; };
  const auto far = [&](const S& x) {
    return ((c * x - number(5 * a)) * x + number(8 * a)) * x - number(4 * a);
  };
  weights[0] = far(r + one);
  weights[1] = near(r);
  weights[2] = near(one - r);
  weights[3] = far((one - r) + one);
}

// What an element type makes of a weighted sum: integers are rounded to nearest, ties to even, and
// saturate; a boolean is whether the sum is not zero.
template <class S>
S as_element(ElementType type, const S& x) {
  if (is_real(type)) return x;
  if (type == ElementType::boolean) return select(equal(x, zero<S>()), zero<S>(), constant<S>(1.0));
  const auto low = static_cast<double>(smallest_integer(type));
  const auto high = static_cast<double>(largest_integer(type));
  // 2^63 and 2^64 are beyond the type: the largest double below them is not.
  const double top = high > 0x1p53 ? std::nextafter(high, 0.0) : high;
  return clamp(round_even(x), constant<S>(low), constant<S>(top));
}

}  // namespace assay

// What quantized products and convolutions do with their sums.
#pragma once

#include "patterns/array.h"
#include "patterns/function.h"

namespace assay {

// A sum of products of integers is exact in double whatever its order; as a scalar of a reading.
template <class S>
S from_exact(double x) {
  if constexpr (std::is_same_v<S, Bounded>)
    return Bounded{x, 0};
  else if constexpr (std::is_same_v<S, Interval>)
    return Interval::point(x);
  else
    return x;
}

// sum · (a_scale b_scale / y_scale), rounded to even, moved by the zero point and cut to the type.
// Scaling happens in the scales' own format. The float8 formats, which have no integers to round
// to, are rounded when the result is stored.
template <class S>
S requantized(const S& sum, const S& a_scale, const S& b_scale, const S& y_scale,
              const S& zero_point, ElementType scale_type, ElementType type) {
  S scaled;
  {
    const RoundingScope scope(rounding_of(scale_type));
    scaled = sum * from_exact<S>(1) * (a_scale * b_scale) / y_scale;
  }
  const RoundingScope scope(Rounding::exact());
  if (is_real(type)) {
    const double largest = format_of(type).largest;
    return clamp(scaled + zero_point, from_exact<S>(-largest), from_exact<S>(largest));
  }
  return clamp(round_even(scaled) + zero_point,
               from_exact<S>(static_cast<double>(smallest_integer(type))),
               from_exact<S>(static_cast<double>(largest_integer(type))));
}

// The other order, as a graph: the zero point is added before the result is rounded, which differs
// where half a step meets an odd zero point. `sums` holds integers.
std::string rounded_after_zero_point(Builder& b, const std::string& sums, std::string scale,
                                     const std::string& y_scale, const std::string& zero_point,
                                     ElementType type);

}  // namespace assay

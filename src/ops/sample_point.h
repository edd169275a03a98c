// Reading a tensor at a place that is itself a number of the data: which cells it may lie in.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "scalar/sequences.h"
#include "scalar/vocabulary.h"

namespace assay {

// Where a place may lie.
struct PlaceRange {
  double value, low, high;
  // Places so wide apart that the cells are not worth counting.
  bool too_wide() const { return !(high - low <= 4); }
};
inline PlaceRange place_range(double x) { return {x, x, x}; }
inline PlaceRange place_range(const Bounded& x) {
  return {x.value, x.value - x.error, x.value + x.error};
}
inline PlaceRange place_range(const Interval& x) {
  if (x.nan) return {0, 0, std::numeric_limits<double>::infinity()};
  return {to_double(x), x.low, x.high};
}

// One way to read an axis: elements and their weights. None at all is a place outside.
template <class S>
struct Cell {
  std::vector<std::int64_t> index;
  std::vector<S> weight;

  void add(std::int64_t i, const S& w) {
    const auto found = std::find(index.begin(), index.end(), i);
    if (found == index.end()) {
      index.push_back(i);
      weight.push_back(w);
    } else {
      S& sum = weight[static_cast<std::size_t>(found - index.begin())];
      sum = sum + w;
    }
  }
};

// The part of a cell that lies before the place, which is in the cell or a rounding away from it.
template <class S>
S fraction(const PlaceRange& place, double cell) {
  if constexpr (std::same_as<S, double>)
    return place.value - cell;
  else if constexpr (std::same_as<S, Bounded>)
    return {place.value - cell,
            (1 + 0x1p-50) * std::max(place.high - place.value, place.value - place.low)};
  else
    return {std::clamp(place.low - cell, 0.0, 1.0), std::clamp(place.high - cell, 0.0, 1.0), false};
}

// Everything that weighted sums of the elements and zero can give, if the weights' magnitudes add
// up to at most `gain`; none is negative if that is 1.
template <class S>
S any_of(const S* begin, std::int64_t count, double gain) {
  Interval all{0, 0, false};
  double value = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if constexpr (std::same_as<S, Interval>)
      all = hull(all, begin[i]);
    else if constexpr (std::same_as<S, Bounded>)
      all = hull(all, enclose(begin[i]));
  }
  const double most = gain * std::max(-all.low, all.high);
  all.nan = all.nan || !std::isfinite(most);  // an infinity with the weight zero
  if constexpr (std::same_as<S, Bounded>)
    return all.nan ? Bounded::anything(value) : Bounded{value, most};
  else if constexpr (std::same_as<S, Interval>)
    return gain == 1 ? all : Interval{-most, most, all.nan};
  else
    return value;
}

}  // namespace assay

// within: what is known of a result beyond what its operations say.
#pragma once

#include "scalar/scalar.h"

namespace assay {

// x, of which mathematics says that it lies in [low, high]; a format may miss an end by some units
// in the last place, so the interval keeps a few of them.
template <Scalar S>
S within(const S& x, double low, double high) {
  if constexpr (std::same_as<S, Interval>) {
    const double slack = 8 * rounding().unit;
    const Interval range = meet(
        x, {low - slack * (low < 0 ? -low : low), high + slack * (high < 0 ? -high : high), true});
    return range.has_number() || range.nan ? range : x;
  } else {
    return x;
  }
}

}  // namespace assay

// The parts of the family of activations: one list a file, and what their bodies share.
#pragma once

#include <limits>
#include <vector>

#include "ops/operator.h"
#include "patterns/elementwise.h"

namespace assay {

std::vector<Operator> piecewise_operators();  // straight pieces: Relu, Clip, HardSigmoid, …
std::vector<Operator> smooth_operators();     // made of exp, tanh and erf: Elu, Gelu, Mish, …

// What the pieces of a function see of a range that reaches over more than one of them. A number
// is in one piece and stays as it is.
template <class S>
S piece_below(const S& x, double limit) {
  if constexpr (std::is_same_v<S, Interval>)
    return min(x, Interval::point(limit));
  else
    return x;
}
template <class S>
S piece_above(const S& x, double limit) {
  if constexpr (std::is_same_v<S, Interval>)
    return max(x, Interval::point(limit));
  else
    return x;
}

// A result of which mathematics says that it is not below `low` < 0; with room for the rounding of
// the several operations that lead to it.
template <class S>
S not_below(const S& x, double low) {
  return within(x, low * (1 + 64 * rounding().unit), std::numeric_limits<double>::infinity());
}

}  // namespace assay

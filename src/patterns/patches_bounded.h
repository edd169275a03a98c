// A convolution of exact tensors with its rounding bound: sums and magnitudes of plain numbers.
#pragma once

#include <optional>

#include "graph/value.h"
#include "patterns/patches.h"

namespace assay {

// What convolve gives for Bounded, settled in `type`, with a bias unless it is null. None where an
// operand has errors of its own, is not finite, or may be flushed: then it takes the whole reading.
std::optional<Value> convolve_exact(const Patches& p, const Value& x, const Value& w,
                                    const Value* bias, ElementType type, const Shape& shape,
                                    PackedWeights* kept = nullptr);

}  // namespace assay

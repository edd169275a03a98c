// Resampling a whole tensor axis by axis, in every reading and for every element type.
#pragma once

#include <vector>

#include "ops/sample_axis.h"
#include "patterns/call.h"

namespace assay {

// The first input of the call with its axes resampled; `outside` stands for what lies outside of a
// crop. Integers are rounded to nearest, ties to even, and saturate. Text and complex numbers are
// moved only (Kernel::nearest).
Value resampled(const Call& call, const SamplingRule& rule, const std::vector<SampledAxis>& axes,
                double outside);

}  // namespace assay

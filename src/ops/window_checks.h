// What pooling operators and convolutions require of the windows that slide over their input.
#pragma once

#include <optional>

#include "ops/check.h"
#include "ops/infer.h"
#include "patterns/window.h"

namespace assay {

// Lengths, signs and words of kernel_shape, strides, dilations, pads and auto_pad for an input
// N x C x D1 x D2 …; whether they certainly hold.
bool require_window_attributes(Check& c, std::string_view input);

// At least one window fits along each axis of the input. `a.kernel` holds the kernel's extents.
bool require_windows_fit(Check& c, std::string_view input, const WindowAttributes& a);

// The extents of the output behind N and C, as far as they are known; the attributes' lengths must
// fit.
Dims window_outputs(const WindowAttributes& a, const Dims& x);
bool has_lengths(const WindowAttributes& a, std::size_t spatial);

// A result of fewer than 2^31 elements: what is larger comes from a slip in an attribute.
bool require_size(Check& c, const Dims& result);

}  // namespace assay

// Windows that slide over the spatial axes: what pools and convolutions share.
#pragma once

#include "layers/keras/body.h"

namespace assay::keras {

// How far a window reaches along each spatial axis, with the gaps of a dilation.
Integers reach(const Site& site, std::string_view kernel);
// Extents of the windows' positions along the spatial axes; unknown where the input's are.
Dims window_counts(const Site& site, std::string_view kernel);
// kernel_shape is left to the operator; strides, dilations and padding of the arguments.
Builder::Attributes window_attributes(const Site& site, std::string_view kernel);
// Sizes are positive, one for each axis, and a window fits into the input.
void require_windows(Check& c, std::string_view kernel);

}  // namespace assay::keras

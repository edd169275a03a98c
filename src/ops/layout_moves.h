// The part of the layout family that moves elements about, with or without a border.
#pragma once

#include <vector>

#include "ops/operator.h"

namespace assay {

std::vector<Operator> layout_border_operators();  // CenterCropPad Pad
std::vector<Operator> layout_block_operators();   // DepthToSpace ReverseSequence SpaceToDepth Trilu

}  // namespace assay

// The part of the shape family that copies elements to other places.
#pragma once

#include <vector>

#include "ops/operator.h"

namespace assay {

std::vector<Operator> shape_move_operators();   // Concat Expand Split Tile Transpose
std::vector<Operator> shape_slice_operators();  // Slice

}  // namespace assay

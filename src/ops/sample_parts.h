// The parts of the sample family.
#pragma once

#include <vector>

#include "ops/operator.h"

namespace assay {

std::vector<Operator> resize_operators();  // Resize Upsample
std::vector<Operator> grid_operators();    // AffineGrid GridSample
std::vector<Operator> region_operators();  // RoiAlign

}  // namespace assay

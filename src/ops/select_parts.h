// The parts of the select family that have a file of their own.
#pragma once

#include <vector>

#include "ops/operator.h"

namespace assay {

std::vector<Operator> select_box_operators();     // NonMaxSuppression
std::vector<Operator> select_unique_operators();  // Unique

}  // namespace assay

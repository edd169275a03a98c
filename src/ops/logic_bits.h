// The part of the family of logic that works on the bits of integers.
#pragma once

#include <vector>

#include "ops/operator.h"

namespace assay {

std::vector<Operator> bit_operators();

}  // namespace assay

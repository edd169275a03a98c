// Gradient: derivatives of one value of a graph by others.
#pragma once

#include "ops/operator.h"

namespace assay {

Operator gradient();

}  // namespace assay

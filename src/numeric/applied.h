// Applied: a function that a body applied, and the ranges of its arguments.
#pragma once

#include "scalar/interval.h"
#include "scalar/rounding.h"

namespace assay {

struct Applied {
  Operation function = Operation::add;
  Interval a, b, result;
  double largest = 0, smallest = 0;  // finite, and normal, numbers of the format it was applied in
};

}  // namespace assay

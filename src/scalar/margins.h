// Margins: the errors that Bounded gives to one operation on exact operands, many at a time.
#pragma once

#include <cstdint>

#include "scalar/rounding.h"

namespace assay {

// The operands of an operation and what it gives for them in double.
struct Operands {
  const double* a;
  const double* b;  // null if there is one
  const double* values;
  std::int64_t count;
};

// Writes the error of each element in the current format. What is added, subtracted or multiplied
// has come from float32.
using Margins = void (*)(const Operands& operands, double* errors);
void sum_margins(const Operands& operands, double* errors);
void difference_margins(const Operands& operands, double* errors);
void product_margins(const Operands& operands, double* errors);
void sigmoid_margins(const Operands& operands, double* errors);

}  // namespace assay

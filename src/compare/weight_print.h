// The print of a weight: a number that its elements have in any order, and that adds up when
// weights are joined.
#pragma once

#include <cstdint>

#include "tensor/tensor.h"

namespace assay {

// Elements are rounded to the type first, unless that is undefined.
std::uint64_t print_of(const Tensor& tensor, ElementType rounded_to = ElementType::undefined);

}  // namespace assay

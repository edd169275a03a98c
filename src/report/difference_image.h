// Difference image: where two tensors differ, small enough for a page.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tensor/tensor.h"

namespace assay {

// The tensor as rows by columns (its last axis; one row alone is folded to a near square), each
// cell of the image the largest difference among the elements that fall on it.
struct DifferenceImage {
  std::int64_t rows = 0, columns = 0;  // of the tensor
  std::int64_t height = 0, width = 0;  // of the image
  double largest = 0;
  std::int64_t at = 0;  // the element that differs most
  // A digit a cell: 0 equal, 9 the largest, each step below half a power of ten; '!' where only one
  // of the two is a number.
  std::string cells;
};

// Nothing if the two have not the same type and shape, or no element differs.
std::optional<DifferenceImage> difference_image(const Tensor& a, const Tensor& b,
                                                std::int64_t side);

}  // namespace assay

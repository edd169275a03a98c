// Draw figures: what is added up of a drawn tensor, so that draws can be compared with each other.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/value.h"

namespace assay {

struct DrawFigure {
  std::string name;
  double sum = 0;
  double largest = 0;  // of the terms, in magnitude
};

// The figures of output `at` of a draw, always in the same order for the same types and shapes.
std::vector<DrawFigure> draw_figures(std::span<const Value> outputs, std::size_t at,
                                     std::span<const Value> inputs);

// How many of the first elements of y have a value that none of `seen` has there.
std::int64_t count_unseen(const Tensor& y, std::span<const Tensor> seen);

}  // namespace assay

// PooledReach: how far draws moved the elements that are about as large as each one.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/tensor.h"

namespace assay {

// An element that a few draws happened to move little may move as far as others of its size do: a
// softmax moves small elements less than large ones, a difference of large numbers all alike, and
// either way those of one size are moved alike. So a few runs do for large outputs.
class PooledReach {
 public:
  static constexpr std::size_t kMany = 256;    // elements, from which on there are enough others
  static constexpr std::int64_t kFewRuns = 2;  // instead of those that a single element needs

  explicit PooledReach(std::size_t elements) : squares_(elements) {}

  void add(std::size_t element, double distance) { squares_[element] += distance * distance; }
  // Lets each element lie as far off as others may; `runs` have been added.
  void widen(const Tensor& center, std::int64_t runs, std::vector<double>& allowance) const;

 private:
  std::vector<double> squares_;  // sums of all draws
};

}  // namespace assay

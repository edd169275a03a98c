// Whether all elements are numbers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace assay {

// In runs of constant length, which become vectors. Only what is not finite times 0 is not 0.
template <class T>
bool all_finite(std::span<const T> elements) {
  constexpr std::size_t kRun = 16;
  std::array<T, kRun> sums{};
  std::size_t i = 0;
  for (; i + kRun <= elements.size(); i += kRun) {
    for (std::size_t j = 0; j < kRun; ++j) sums[j] += elements[i + j] * 0;
  }
  for (; i < elements.size(); ++i) sums[0] += elements[i] * 0;
  return std::all_of(sums.begin(), sums.end(), [](T sum) { return sum == 0; });
}

}  // namespace assay

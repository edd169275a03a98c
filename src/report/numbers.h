// Numbers in JSON documents, and a tensor in a few of them.
#pragma once

#include <cstdint>

#include <nlohmann/json.hpp>

#include "tensor/tensor.h"

namespace assay {

// A number, or where JSON has none the string "NaN", "Infinity" or "-Infinity".
nlohmann::ordered_json number_json(double value);

// The smallest, largest and mean finite element, and how many are not finite.
struct Statistics {
  std::int64_t count = 0, nan = 0, infinite = 0;
  double smallest = 0, largest = 0, mean = 0;
};
bool has_statistics(ElementType type);
Statistics statistics_of(const Tensor& tensor);  // real, integer and boolean types

}  // namespace assay

// The same data for two files of one network.
#pragma once

#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/value.h"

namespace assay {

// Inputs of two files side by side: those of A, then those that only B has.
struct PairedInputs {
  Graph asked;                    // its inputs are what data is needed for
  std::vector<std::size_t> of_a;  // which of these each input of A is
  std::vector<std::size_t> of_b;  // and each of B
  std::size_t only_a = 0, only_b = 0;
};
// By name, then by position where shapes fit. Inputs with an initialiser need no data.
PairedInputs pair_inputs(const Graph& a, const Graph& b);

inline constexpr std::size_t kNoData = static_cast<std::size_t>(-1);

// The values for one file, in the element types that it declares.
std::vector<Value> values_for(const Graph& graph, const std::vector<std::size_t>& which,
                              const std::vector<Value>& values);

}  // namespace assay

// Turned: which decisions of a model two recordings took differently, because rounding let them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "semantics/evaluator.h"

namespace assay {

// The layers whose results lie apart although their inputs are as near to each other as was
// recorded, and a decision covers both: in order of execution.
Result<std::vector<std::string>> turned_layers(const Evaluator& evaluator,
                                               const std::vector<Value>& inputs,
                                               const std::map<std::string, Tensor>& a,
                                               const std::map<std::string, Tensor>& b,
                                               std::uint64_t seed);

}  // namespace assay

// A model with the weights of another file of the same network.
#pragma once

#include "compare/weight_match.h"

namespace assay {

// A with B's elements in the weights of these pairs. Without a model if there is none.
Result<Traced> substitute_weights(const Traced& a, const Trace& trace_a, const Trace& trace_b,
                                  const std::vector<WeightPair>& pairs);

}  // namespace assay

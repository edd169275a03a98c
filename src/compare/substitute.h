// A model with the weights of another file of the same network.
#pragma once

#include "compare/weight_match.h"

namespace assay {

// A with B's elements in every weight that differs. Without a model if none does.
Result<Traced> substitute_weights(const Traced& a, const Trace& trace_a, const Trace& trace_b,
                                  const WeightMatch& weights);

}  // namespace assay

// What stands between a file's graph and one that can run: functions with the attributes of their
// call put in, sparse tensors made dense.
#pragma once

#include "graph/graph.h"

namespace assay {

// The body with each attribute reference replaced by what the call gives, or by the function's
// default; an attribute that has neither is left out, as the standard says.
Graph bind_function(const Function& function, const Node& call);

// Throws EvaluationError for an index out of range.
Tensor to_dense(const SparseTensor& sparse);

}  // namespace assay

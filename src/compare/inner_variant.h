// The variants of a layer that are those of the operators it is made of.
#pragma once

#include <functional>

#include "semantics/evaluator.h"

namespace assay {

// Goes through the other readings of each operator in the graph of a layer and calls `explains`
// with what the layer is when that operator is read so; the first for which it is true. Null for a
// node that is not a layer.
const Variant* find_inner_variant(const Evaluated& evaluated,
                                  const std::function<bool(const std::vector<Value>&)>& explains);

}  // namespace assay

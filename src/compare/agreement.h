// Agreement: whether a value is what was expected, by tolerance or by the node's rounding bound.
#pragma once

#include <string>

#include "graph/value.h"

namespace assay {

struct Tolerance {
  double relative = 1e-3, absolute = 1e-7;
};
// The tolerance of the standard's tests for a type: bfloat16 gets 2^-6, others what is given.
Tolerance tolerance_for(ElementType type, Tolerance given);

struct Agreement {
  bool agrees = false;
  std::string detail;  // how, or where and by how much not
};

// Types and shapes must be the same; integers, booleans and texts exactly the same.
Agreement agrees(const Value& expected, const Value& found, Tolerance tolerance);
// Whether the expected elements lie inside the bound of a value read as Bounded. Integers may
// differ by one where the bound shows a tie.
Agreement within_bound(const Value& expected, const Value& bounded);

}  // namespace assay

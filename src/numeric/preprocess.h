// Ranges of inputs that the first nodes of a model tell: pixels that are scaled, or made standard.
#pragma once

#include <optional>
#include <string>

#include "graph/graph.h"
#include "scalar/interval.h"

namespace assay {

struct PreparedInput {
  Interval range;
  std::string by;  // the node after which the numbers are what networks are given
};

// Of an input that nobody gave a range to. What the nodes compute of 0, 1 and 255 decides: if 255
// becomes 1 and 0 becomes 0 or -1, these are pixels.
std::optional<PreparedInput> prepared_input(const Model& model, const NamedType& input);

}  // namespace assay

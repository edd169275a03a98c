// What the inference of types has computed: lists of extents, and what no input decides.
#pragma once

#include <optional>
#include <span>

#include "numeric/transfer.h"

namespace assay {

// Integers that decide shapes, and constants that a node alone decides. `known` may be null.
std::optional<Abstract> inferred_value(const PlannedNode& node, const Known* known,
                                       std::span<const Abstract> inputs);
// A cast of a list of extents is one, too: it leaves every range as it is.
void keep_extents(const PlannedNode& node, const Known* known, std::span<const Abstract> inputs,
                  Abstract& output);

}  // namespace assay

// Elements of small values that are known before a model runs: a node whose inputs are known is
// evaluated; one whose inputs are partly known (a shape with a named extent) is evaluated on
// several assignments of numbers to what is unknown, and what all of them agree on is kept.
#pragma once

#include <optional>
#include <vector>

#include "ops/check.h"
#include "patterns/site.h"
#include "semantics/plan.h"

namespace assay {

// Values with more elements are not looked into.
inline constexpr std::int64_t kMostFolded = 1024;

// Fills in the elements of `outputs`, whose types are known already. A node whose inputs are all
// known and that cannot be evaluated on them is a violation.
std::optional<Violation> fold(const PlannedNode& node, const Site& site,
                              std::vector<Known>& outputs);

// What is known of an integer tensor from a list of its elements, partly known: a constant if all
// are known.
void set_elements(Known& known, const std::vector<Dim>& elements);

}  // namespace assay

// Checks of whole nodes, beside those of the functions that their bodies apply.
#pragma once

#include <optional>

#include "numeric/analysis.h"
#include "numeric/checks/check.h"

namespace assay {

// A check of what a node as a whole does.
struct NodeCheck {
  std::string_view id;
  std::optional<Danger> (*judge)(const Analyzed& seen);
  Remedy remedy;
};

// All of them, a file each; of several dangers the first counts.
std::span<const NodeCheck> node_checks();

std::optional<Danger> judge_cast(const Analyzed& seen);
std::optional<Danger> judge_empty(const Analyzed& seen);
std::optional<Danger> judge_index(const Analyzed& seen);
std::optional<Danger> judge_integers(const Analyzed& seen);
std::optional<Danger> judge_nan(const Analyzed& seen);
std::optional<Danger> judge_overflow(const Analyzed& seen);

// Whether nothing is known of an operand but its type: that its numbers may be too large then says
// nothing.
bool operands_assumed(const Analyzed& seen);

}  // namespace assay

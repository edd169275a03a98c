// Checks of whole nodes, beside those of the functions that their bodies apply.
#pragma once

#include <optional>

#include "numeric/analysis.h"
#include "numeric/checks/check.h"

namespace assay {

std::optional<Danger> judge_overflow(const Analyzed& seen);
std::optional<Danger> judge_nan(const Analyzed& seen);
std::optional<Danger> judge_index(const Analyzed& seen);

}  // namespace assay

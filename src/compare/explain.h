// Explain: why a recorded result is not the reference's, by reading its node again in other ways.
#pragma once

#include <optional>

#include "compare/judge.h"
#include "scalar/tier.h"

namespace assay {

// What one output of a node that was just evaluated is, with the verdict and the variant or profile
// that explains it. Nothing if nobody can tell: chance made it, or the catalogue has no bound of
// it. `basis` is what the bound of the node rests on.
std::optional<Judgement> judge_one(const Evaluated& evaluated, std::size_t output,
                                   const Tensor& found, const Basis& basis);

}  // namespace assay

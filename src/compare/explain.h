// Explain: why a recorded result is not the reference's, by reading its node again in other ways.
#pragma once

#include "compare/judge.h"
#include "scalar/tier.h"

namespace assay {

// Gives a judgement of an output its verdict, and the variant or profile that explains it. `basis`
// is what the bound of the node rests on.
void explain(const Evaluated& evaluated, std::size_t output, const Tensor& found,
             const Basis& basis, Judgement& judgement);

// An output that rounding leaves open altogether (how many boxes, which branch): one that differs
// from what the values decide is a tie.
Judgement judge_open(const Evaluated& evaluated, std::size_t output, const Tensor& found);

}  // namespace assay

// The logarithm of what a sigmoid leaves to 1.
#include "numeric/idioms/idiom.h"

namespace assay {

const Idiom kLogComplementIdiom{
    "log-complement", "lint.softmax",
    "this is the logarithm of 1 less a sigmoid; -softplus(x) computes it",
    [](Builder& b) { b.output(0, b("Neg", {b("Softplus", {b.input(0)})})); }};

}  // namespace assay

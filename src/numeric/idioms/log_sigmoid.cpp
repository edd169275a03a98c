// The logarithm of a sigmoid, which is 0 for numbers that are not yet large.
#include "numeric/idioms/idiom.h"

namespace assay {

const Idiom kLogSigmoidIdiom{
    "log-sigmoid", "lint.softmax", "this is the logarithm of a sigmoid; -softplus(-x) computes it",
    [](Builder& b) { b.output(0, b("Neg", {b("Softplus", {b("Neg", {b.input(0)})})})); }};

}  // namespace assay

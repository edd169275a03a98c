// 1 / (1 + exp(-x)), whose exponential overflows where the result is 0.
#include "numeric/idioms/idiom.h"

namespace assay {

const Idiom kSigmoidIdiom{"sigmoid", "lint.softmax", "this is a sigmoid written by hand",
                          [](Builder& b) { b.output(0, b("Sigmoid", {b.input(0)})); }};

}  // namespace assay

// log(1 + exp(x)), whose exponential overflows where the result is x.
#include "numeric/idioms/idiom.h"

namespace assay {

const Idiom kSoftplusIdiom{"softplus", "lint.log_sum_exp",
                           "this is log(1 + exp(x)); softplus computes it",
                           [](Builder& b) { b.output(0, b("Softplus", {b.input(0)})); }};

}  // namespace assay

// The logarithm of a sum of exponentials, any of which may overflow.
#include "numeric/idioms/idiom.h"

namespace assay {

const Idiom kLogSumExpIdiom{
    "log-sum-exp",
    "lint.log_sum_exp",
    "this is a log-sum-exp written by hand; that of the standard subtracts the largest element",
    [](Builder& b) {
      b.output(0, b("ReduceLogSumExp", {b.input(0), b.integers({b.site().integer("axis")})},
                    {attribute("keepdims", b.site().integer("keepdims"))}));
    },
    true,
    true};

}  // namespace assay

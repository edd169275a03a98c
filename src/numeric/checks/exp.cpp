// exp(x) overflows for x above the logarithm of the largest number.
#include <cmath>

#include "numeric/checks/check.h"

namespace assay {

const NumericCheck kExpCheck{"lint.exp", Operation::exp, [](const Applied& applied) {
                               return danger_if(applied.a,
                                                {std::log(applied.largest), HUGE_VAL, false},
                                                "the argument of exp");
                             }};

}  // namespace assay

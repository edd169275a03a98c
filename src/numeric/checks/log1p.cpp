// log(1 + x) is minus infinity at -1 and NaN below.
#include <cmath>

#include "numeric/checks/check.h"

namespace assay {

const NumericCheck kLog1pCheck{"lint.log1p", Operation::log1p, [](const Applied& applied) {
                                 return danger_if(applied.a,
                                                  {-HUGE_VAL, applied.smallest - 1, false},
                                                  "the argument of log1p");
                               }};

}  // namespace assay

// log(x) is minus infinity at 0 and NaN below; what is below the smallest normal number may count
// as 0.
#include <cmath>

#include "numeric/checks/check.h"

namespace assay {

const NumericCheck kLogCheck{
    "lint.log", Operation::log, [](const Applied& applied) {
      return danger_if(applied.a, {-HUGE_VAL, applied.smallest, false}, "the argument of log");
    }};

}  // namespace assay

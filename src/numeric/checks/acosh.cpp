// acosh(x) is NaN below 1.
#include <cmath>

#include "numeric/checks/check.h"

namespace assay {

const NumericCheck kAcoshCheck{
    "lint.acosh", Operation::acosh, [](const Applied& applied) {
      return danger_if(applied.a, {-HUGE_VAL, 1, false}, "the argument of acosh");
    }};

}  // namespace assay

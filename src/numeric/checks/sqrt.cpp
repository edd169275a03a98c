// The root of a negative number is NaN.
#include <cmath>

#include "numeric/checks/check.h"

namespace assay {

const NumericCheck kSqrtCheck{
    "lint.sqrt", Operation::square_root, [](const Applied& applied) {
      return danger_if(applied.a, {-HUGE_VAL, -applied.smallest, false}, "the argument of sqrt");
    }};

}  // namespace assay

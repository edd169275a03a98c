// A division by 0, or by what may count as 0.
#include <cmath>

#include "numeric/checks/check.h"

namespace assay {

const NumericCheck kDivideCheck{
    "lint.divide", Operation::divide, [](const Applied& applied) {
      return danger_if(applied.b, {-applied.smallest, applied.smallest, false}, "the divisor");
    }};

}  // namespace assay

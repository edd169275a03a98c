// acos(x) is NaN outside of [-1, 1].
#include <cmath>

#include "numeric/checks/check.h"

namespace assay {

const NumericCheck kAcosCheck{
    "lint.acos", Operation::acos, [](const Applied& applied) {
      auto high = danger_if(applied.a, {1, HUGE_VAL, false}, "the argument of acos");
      return high ? high : danger_if(applied.a, {-HUGE_VAL, -1, false}, "the argument of acos");
    }};

}  // namespace assay

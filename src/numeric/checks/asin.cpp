// asin(x) is NaN outside of [-1, 1].
#include <cmath>

#include "numeric/checks/check.h"

namespace assay {

const NumericCheck kAsinCheck{
    "lint.asin", Operation::asin, [](const Applied& applied) {
      auto high = danger_if(applied.a, {1, HUGE_VAL, false}, "the argument of asin");
      return high ? high : danger_if(applied.a, {-HUGE_VAL, -1, false}, "the argument of asin");
    }};

}  // namespace assay

// atanh(x) is infinite at -1 and 1 and NaN beyond.
#include <cmath>

#include "numeric/checks/check.h"

namespace assay {

const NumericCheck kAtanhCheck{
    "lint.atanh", Operation::atanh, [](const Applied& applied) {
      const double one = std::nextafter(1.0, 0.0);
      auto high = danger_if(applied.a, {one, HUGE_VAL, false}, "the argument of atanh");
      return high ? high : danger_if(applied.a, {-HUGE_VAL, -one, false}, "the argument of atanh");
    }};

}  // namespace assay

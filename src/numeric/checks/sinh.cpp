// sinh(x) overflows as exp(|x|) / 2 does.
#include <cmath>

#include "numeric/checks/check.h"

namespace assay {

const NumericCheck kSinhCheck{
    "lint.sinh", Operation::sinh, [](const Applied& applied) {
      const double end = std::log(applied.largest) + std::log(2);
      auto high = danger_if(applied.a, {end, HUGE_VAL, false}, "the argument of sinh");
      return high ? high : danger_if(applied.a, {-HUGE_VAL, -end, false}, "the argument of sinh");
    }};

}  // namespace assay

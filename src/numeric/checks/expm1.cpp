// exp(x) - 1 overflows as exp(x) does.
#include <cmath>

#include "numeric/checks/check.h"

namespace assay {

const NumericCheck kExpm1Check{"lint.expm1", Operation::expm1, [](const Applied& applied) {
                                 return danger_if(applied.a,
                                                  {std::log(applied.largest), HUGE_VAL, false},
                                                  "the argument of expm1");
                               }};

}  // namespace assay

// A power of a negative base with a broken exponent is NaN, of 0 with a negative one infinite; a
// large one overflows.
#include <cmath>

#include "numeric/abstract.h"
#include "numeric/checks/check.h"

namespace assay {

const NumericCheck kPowCheck{
    "lint.pow", Operation::pow, [](const Applied& applied) {
      const bool fine = !applied.result.nan && std::fabs(applied.result.low) <= applied.largest &&
                        std::fabs(applied.result.high) <= applied.largest;
      if (fine || applied.a.nan || applied.b.nan) return std::optional<Danger>{};
      return std::optional(Danger{applied.a, applied.a,
                                  "the power of a base in " + to_text(applied.a) +
                                      " to an exponent in " + to_text(applied.b) +
                                      " may be no finite number"});
    }};

}  // namespace assay

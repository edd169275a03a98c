#include "ops/families.h"

namespace assay {

std::vector<Operator> ml_linear_operators() { return {}; }

}  // namespace assay

#include "ops/families.h"

namespace assay {

std::vector<Operator> unary_operators() { return {}; }

}  // namespace assay

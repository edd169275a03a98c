#include "ops/families.h"

namespace assay {

std::vector<Operator> control_operators() { return {}; }

}  // namespace assay

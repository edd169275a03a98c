#include "ops/families.h"

namespace assay {

std::vector<Operator> recurrent_operators() { return {}; }

}  // namespace assay

#include "ops/families.h"

namespace assay {

std::vector<Operator> ml_encode_operators() { return {}; }

}  // namespace assay

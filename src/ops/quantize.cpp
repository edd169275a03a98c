#include "ops/families.h"

namespace assay {

std::vector<Operator> quantize_operators() { return {}; }

}  // namespace assay

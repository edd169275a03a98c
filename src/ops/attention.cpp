#include "ops/families.h"

namespace assay {

std::vector<Operator> attention_operators() { return {}; }

}  // namespace assay

#include "ops/families.h"

namespace assay {

std::vector<Operator> container_operators() { return {}; }

}  // namespace assay

#include "ops/families.h"

namespace assay {

std::vector<Operator> logic_operators() { return {}; }

}  // namespace assay

#include "ops/families.h"

namespace assay {

std::vector<Operator> ml_trees_operators() { return {}; }

}  // namespace assay

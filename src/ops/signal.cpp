#include "ops/families.h"

namespace assay {

std::vector<Operator> signal_operators() { return {}; }

}  // namespace assay

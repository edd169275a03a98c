#include "ops/families.h"

namespace assay {

std::vector<Operator> text_operators() { return {}; }

}  // namespace assay

#include "ops/families.h"

namespace assay {

std::vector<Operator> image_operators() { return {}; }

}  // namespace assay

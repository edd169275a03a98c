// What a model imports: operator sets that do not exist yet, operators that its versions have not.
#pragma once

#include <vector>

#include "validate/validate.h"

namespace assay {

std::vector<Finding> check_imports(const Model& model);

}  // namespace assay

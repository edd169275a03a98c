// A right model with the types that were inferred on the way.
#pragma once

#include <string>

#include "base/result.h"
#include "semantics/import_tensorflow.h"

namespace assay {

// As read_valid_model.
Result<TypedModel> read_typed_model(const std::string& path);

}  // namespace assay

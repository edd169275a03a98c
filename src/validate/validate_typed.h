// Validation of a model whose types have been inferred.
#pragma once

#include "semantics/infer_types.h"
#include "validate/validate.h"

namespace assay {

// What validate(model) says, for those who need the types too.
ValidationResult validate(const Model& model, const ModelTypes& types);

}  // namespace assay

// Validation of a model whose types have been inferred.
#pragma once

#include <cstdint>

#include "semantics/infer_types.h"
#include "validate/validate.h"

namespace assay {

// What validate(model) says, for those who need the types too. Whoever has found nothing wrong with
// the structure may say so: of a large graph that takes as long as all the rest.
enum class Structure : std::uint8_t { unknown, right };
ValidationResult validate(const Model& model, const ModelTypes& types,
                          Structure structure = Structure::unknown);

}  // namespace assay

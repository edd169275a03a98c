// A finding of validate as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "validate/validate.h"

namespace assay {

nlohmann::ordered_json to_json(const Finding& finding);

}  // namespace assay

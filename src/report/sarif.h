// The report as SARIF 2.1.0, for the code scanning of a forge.
#pragma once

#include <nlohmann/json.hpp>

namespace assay {

nlohmann::ordered_json to_sarif(const nlohmann::ordered_json& document);

}  // namespace assay

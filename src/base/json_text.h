// JSON documents as text.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace assay {

// On one line. What is no UTF-8 is replaced.
std::string to_json_text(const nlohmann::ordered_json& document);

}  // namespace assay

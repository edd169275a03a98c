// The report as one page that needs nothing else: the viewer with the document inside.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace assay {

std::string to_html(const nlohmann::ordered_json& document);

// JSON that ends no element and opens no comment, wherever in a page it stands.
std::string to_script_json(const nlohmann::ordered_json& document);

}  // namespace assay

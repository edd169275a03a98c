// The report as JUnit's XML, for the test pages of a build server.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace assay {

std::string to_junit(const nlohmann::ordered_json& document);

}  // namespace assay

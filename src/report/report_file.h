// Report files: the format is what the file's name ends in.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace assay {

// An error of kind "usage" that names the file, unless it ends in .html, .sarif or .xml.
Result<void> check_report_name(const std::string& path);
Result<void> write_report(const nlohmann::ordered_json& document, const std::string& path);

}  // namespace assay

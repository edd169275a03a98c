#include "cli/baseline.h"

#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace assay {

Result<Baseline> read_baseline(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Error{"missing", fmt::format("{}: cannot be opened", path), path};
  const nlohmann::json document = nlohmann::json::parse(file, nullptr, false);
  if (!document.is_object() || !document.contains("findings") || !document["findings"].is_array()) {
    return Error{"unreadable", fmt::format("{}: no JSON document with findings", path), path};
  }
  Baseline baseline;
  for (const nlohmann::json& finding : document["findings"]) {
    if (!finding.is_object()) continue;
    const auto text = [&](const char* key) {
      return finding.contains(key) && finding[key].is_string() ? finding[key].get<std::string>()
                                                               : std::string();
    };
    baseline.emplace(text("layer"), text("rule"));
  }
  return baseline;
}

}  // namespace assay

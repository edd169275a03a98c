#include "report/report_file.h"

#include <filesystem>

#include <fmt/format.h>

#include "formats/onnx_export.h"
#include "report/html.h"
#include "report/junit.h"
#include "report/sarif.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

std::string sarif_text(const Json& document) {
  return to_sarif(document).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

struct Format {
  const char* extension;
  std::string (*write)(const Json& document);
};
constexpr Format kFormats[] = {{".html", to_html}, {".sarif", sarif_text}, {".xml", to_junit}};

const Format* format_of(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  for (const Format& format : kFormats) {
    if (extension == format.extension) return &format;
  }
  return nullptr;
}

}  // namespace

Result<void> check_report_name(const std::string& path) {
  if (format_of(path)) return {};
  return Error{"usage", fmt::format("{}: a report ends in .html, .sarif or .xml", path), path};
}

Result<void> write_report(const Json& document, const std::string& path) {
  if (Result<void> named = check_report_name(path); !named) return named;
  return write_file(path, format_of(path)->write(document));
}

}  // namespace assay

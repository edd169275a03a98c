#include "report/html.h"

#include <string_view>

#include "base/check.h"

namespace assay {
namespace {

// Built from viewer/ (cmake/Viewer.cmake); the document goes where the mark is.
constexpr char kPage[] =
#include "generated/viewer_page.inc"
    ;
constexpr std::string_view kMark = "ASSAY_DOCUMENT";

}  // namespace

std::string to_script_json(const nlohmann::ordered_json& document) {
  const std::string json =
      document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string to_html(const nlohmann::ordered_json& document) {
  // The map's nodes carry the rates, so that the page need not hold them twice.
  nlohmann::ordered_json embedded = document;
  embedded.erase("localisation");
  const std::string_view page(kPage, sizeof(kPage) - 1);
  const std::size_t mark = page.find(kMark);
  ASSAY_CHECK(mark != std::string_view::npos);
  return std::string(page.substr(0, mark)) + to_script_json(embedded) +
         std::string(page.substr(mark + kMark.size()));
}

}  // namespace assay

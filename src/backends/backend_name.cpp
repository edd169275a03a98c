#include "backends/backend_name.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace assay {
namespace {

bool is_release(std::string_view text) {
  return !text.empty() && text.front() >= '0' && text.front() <= '9' &&
         text.find_first_not_of("0123456789.") == std::string_view::npos && text.back() != '.' &&
         text.find('.') != std::string_view::npos;
}

bool exists(const std::string& name) {
  const std::vector<std::string> names = environment_names();
  return std::binary_search(names.begin(), names.end(), name);
}

// A file of that name, or another release of the framework of one.
Result<Environment> find_environment(const std::string& name) {
  if (!exists(name)) {
    const auto dash = name.rfind('-');
    if (dash != std::string::npos && is_release(name.substr(dash + 1)) &&
        exists(name.substr(0, dash))) {
      const Result<Environment> base = read_environment(name.substr(0, dash));
      if (!base) return base.error();
      return at_release(*base, name.substr(dash + 1));
    }
  }
  return read_environment(name);
}

bool has_mode(const Environment& environment, const std::string& mode) {
  return std::find(environment.modes.begin(), environment.modes.end(), mode) !=
         environment.modes.end();
}

}  // namespace

Result<BackendName> parse_backend(const std::string& text) {
  if (text.ends_with("-cuda")) {
    return Error{"usage", fmt::format("backend {}: the suffix -cuda is reserved", text), text};
  }
  Result<Environment> whole = find_environment(text);
  if (whole) return BackendName{text, *std::move(whole), ""};
  if (whole.error().kind != "environment") return whole.error();
  if (const auto dash = text.rfind('-'); dash != std::string::npos) {
    const std::string mode = text.substr(dash + 1);
    Result<Environment> rest = find_environment(text.substr(0, dash));
    if (rest && has_mode(*rest, mode)) return BackendName{text, *std::move(rest), mode};
  }
  return Error{
      "environment",
      fmt::format("there is no backend {}; there are: reference, file:F.npz, {}, a release "
                  "such as torch-1.4, and modes such as torch-compile",
                  text, fmt::join(environment_names(), ", ")),
      text};
}

}  // namespace assay

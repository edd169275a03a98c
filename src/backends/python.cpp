#include "backends/python.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "backends/places.h"
#include "backends/process.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr double kLookSeconds = 60, kInstallSeconds = 900;

std::string trimmed(std::string text) {
  text.erase(text.find_last_not_of(" \n\r\t") + 1);
  return text.substr(text.rfind('\n') + 1);
}

// Whether it runs and is of the version.
bool is_python(const std::string& program, const std::string& version) {
  const Result<std::string> told = run_to_end(
      {{program, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"}}, kLookSeconds);
  return told && trimmed(*told) == version;
}

std::optional<std::string> from_variable(const std::string& version) {
  std::string name = "ASSAY_PYTHON_" + version;
  std::replace(name.begin(), name.end(), '.', '_');
  const char* program = std::getenv(name.c_str());
  return program ? std::optional<std::string>(program) : std::nullopt;
}

std::optional<std::string> from_uv(const std::string& version, bool install) {
  const std::string uv = find_uv();
  if (uv.empty()) return std::nullopt;
  if (install && !run_to_end({{uv, "python", "install", "--quiet", version}}, kInstallSeconds)) {
    return std::nullopt;
  }
  const Result<std::string> found =
      run_to_end({{uv, "python", "find", "--no-project", version}}, kLookSeconds);
  return found ? std::optional<std::string>(trimmed(*found)) : std::nullopt;
}

std::optional<std::string> from_pyenv(const std::string& version) {
  const char* root = std::getenv("PYENV_ROOT");
  const char* home = std::getenv("HOME");
  const fs::path folder =
      (root ? fs::path(root) : fs::path(home ? home : "") / ".pyenv") / "versions";
  std::vector<std::string> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(version + ".")) found.push_back((entry.path() / "bin/python").string());
  }
  std::sort(found.begin(), found.end());
  return found.empty() ? std::nullopt : std::optional<std::string>(found.back());
}

}  // namespace

std::string find_uv() {
  if (const char* asked = std::getenv("ASSAY_UV")) return asked;
  if (run_to_end({{"uv", "--version"}}, kLookSeconds)) return "uv";
  const fs::path own = workers_folder().parent_path() / "build" / "uv" / "bin" / "uv";
  std::error_code ignored;
  return fs::exists(own, ignored) ? own.string() : std::string();
}

Result<std::string> find_python(const std::string& version) {
  if (const auto asked = from_variable(version)) {
    if (is_python(*asked, version)) return *asked;
    return Error{"environment", fmt::format("{} is no Python {}", *asked, version), *asked};
  }
  for (const auto& found : {from_uv(version, false), from_pyenv(version)}) {
    if (found && is_python(*found, version)) return *found;
  }
  if (const auto found = from_uv(version, true); found && is_python(*found, version)) return *found;
  std::string variable = "ASSAY_PYTHON_" + version;
  std::replace(variable.begin(), variable.end(), '.', '_');
  return Error{
      "environment",
      fmt::format("there is no Python {} here, and none can be installed; ${} may name one",
                  version, variable),
      version};
}

// Behind a proxy with a certificate of its own the system's store is the one that knows it.
std::vector<std::pair<std::string, std::string>> uv_variables() {
  return {{"UV_SYSTEM_CERTS", "1"}, {"UV_NATIVE_TLS", "1"}, {"UV_NO_PROGRESS", "1"}};
}

}  // namespace assay

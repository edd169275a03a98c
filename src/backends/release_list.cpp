#include "backends/release_list.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/places.h"
#include "backends/process.h"
#include "backends/python.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr double kSeconds = 120;
constexpr std::size_t kMost = 500;
// What the installer says where no release fits, other than that it could not ask.
constexpr const char* kNoneFits = "No solution found";

// A file that is there for as long as this is.
struct Requirements {
  fs::path path;
  explicit Requirements(const std::string& text) {
    path = fs::temp_directory_path() / fmt::format("assay-{}.in", getpid());
    std::ofstream(path) << text << '\n';
  }
  Requirements(const Requirements&) = delete;
  Requirements& operator=(const Requirements&) = delete;
  ~Requirements() {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
};

// The newest release within bounds that a Python takes; none if there is none.
Result<std::optional<std::string>> newest(const std::string& package, const std::string& bounds,
                                          const std::string& python) {
  const std::string uv = find_uv();
  if (uv.empty()) {
    return Error{"environment", "the program uv is needed to list releases: pip install uv", "uv"};
  }
  const Requirements file(package + bounds);
  const Result<std::string> printed =
      run_to_end({{uv, "pip", "compile", "--quiet", "--no-header", "--no-annotate", "--no-deps",
                   "--only-binary", ":all:", "--python-version", python, file.path.string()},
                  uv_variables()},
                 kSeconds);
  if (!printed) {
    if (printed.error().message.find(kNoneFits) == std::string::npos) return printed.error();
    return std::optional<std::string>();
  }
  const auto sign = printed->find("==");
  if (sign == std::string::npos) return std::optional<std::string>();
  const auto end = printed->find_first_of(" ;\r\n", sign);
  return std::optional(printed->substr(sign + 2, end - sign - 2));
}

// The same on whichever Python has the newest.
Result<std::optional<std::string>> newest(const Environment& environment, const std::string& from,
                                          const std::string& below) {
  std::optional<std::string> best;
  for (const std::string& python : at_release(environment, below).pythons) {
    const auto found = newest(environment.package, fmt::format(">={},<{}", from, below), python);
    if (!found) return found.error();
    const bool better = *found && (!best || release_numbers(*best) < release_numbers(**found));
    if (better) best = **found;
  }
  return best;
}

// "1.31" ends where 1.32 begins, "1.31.1" where 1.31.2 does.
std::string after(std::vector<std::int64_t> release) {
  ++release.back();
  return fmt::format("{}", fmt::join(release, "."));
}

}  // namespace

std::vector<std::int64_t> release_numbers(const std::string& version) {
  std::vector<std::int64_t> found;
  for (std::size_t at = 0; at < version.size();) {
    char* end = nullptr;
    const std::int64_t number = std::strtoll(version.c_str() + at, &end, 10);
    const auto next = static_cast<std::size_t>(end - version.c_str());
    if (next == at || version[at] < '0' || version[at] > '9') break;
    found.push_back(number);
    if (next >= version.size() || version[next] != '.') break;
    at = next + 1;
  }
  return found;
}

Result<std::vector<std::string>> list_releases(const Environment& environment,
                                               const std::string& from, const std::string& to) {
  const std::vector<std::int64_t> first = release_numbers(from), last = release_numbers(to);
  if (first.size() < 2 || last.size() < 2 || first > last) {
    return Error{"usage", fmt::format("{}..{}: expected releases such as 1.19..1.31", from, to),
                 from + ".." + to};
  }
  const bool every = first.size() > 2 && last.size() > 2;
  std::vector<std::string> releases;
  std::string below = after(last);
  while (releases.size() < kMost) {
    const Result<std::optional<std::string>> found = newest(environment, from, below);
    if (!found) return found.error();
    if (!*found) break;
    releases.push_back(**found);
    std::vector<std::int64_t> next = release_numbers(**found);
    if (!every && next.size() > 2) next.resize(2);
    below = fmt::format("{}", fmt::join(next, "."));
  }
  if (releases.empty()) {
    return Error{
        "environment",
        fmt::format("there is no release of {} between {} and {}", environment.package, from, to),
        environment.package};
  }
  std::reverse(releases.begin(), releases.end());
  return releases;
}

}  // namespace assay

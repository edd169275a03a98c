#include "backends/install.h"

#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <sys/file.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/places.h"
#include "backends/process.h"
#include "backends/python.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr double kVenvSeconds = 300, kInstallSeconds = 3600;
constexpr const char* kStamp = "assay-fingerprint";
// Old Pythons have no uv; these are the last tools that run on 3.6.
constexpr const char* kOldTools[] = {"pip==21.3.1", "setuptools==59.6.0", "wheel==0.37.1"};

Result<std::string> run(std::vector<std::string> arguments, double seconds) {
  return run_to_end({std::move(arguments), uv_variables()}, seconds);
}

// Only one process installs an environment at a time.
class Lock {
 public:
  explicit Lock(const fs::path& file)
      : file_(open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600)) {
    if (file_.number() >= 0) flock(file_.number(), LOCK_EX);
  }

 private:
  Descriptor file_;
};

// Deletes a half-made folder unless it is kept.
struct Partial {
  fs::path folder;
  ~Partial() {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
};

Result<void> install_system_packages(const Environment& environment) {
  std::vector<std::string> missing;
  for (const std::string& package : environment.system_packages) {
    const auto status = run({"dpkg-query", "-W", "-f", "${db:Status-Status}", package}, 60);
    if (!status || *status != "installed") missing.push_back(package);
  }
  if (missing.empty()) return {};
  const std::string command =
      fmt::format("apt-get install -y --no-install-recommends {}", fmt::join(missing, " "));
  if (geteuid() != 0) {
    return Error{"environment",
                 fmt::format("{} needs system packages: sudo {}", environment.name, command),
                 environment.name};
  }
  std::vector<std::string> arguments = {"apt-get", "install", "-y", "--no-install-recommends"};
  arguments.insert(arguments.end(), missing.begin(), missing.end());
  const auto done = run(arguments, kInstallSeconds);
  return done ? Result<void>() : done.error();
}

void add_packages(const Environment& environment, std::vector<std::string>& arguments) {
  for (const auto* list : {&environment.packages, &environment.pins}) {
    arguments.insert(arguments.end(), list->begin(), list->end());
  }
}

Result<void> install_with_pip(const Environment& environment, const std::string& python,
                              const fs::path& folder) {
  auto done = run({python, "-m", "venv", folder.string()}, kVenvSeconds);
  if (!done) return done.error();
  const std::string own = (folder / "bin" / "python").string();
  std::vector<std::string> pip = {own,       "-m",      "pip",
                                  "install", "--quiet", "--disable-pip-version-check"};
  std::vector<std::string> tools = pip;
  tools.insert(tools.end(), std::begin(kOldTools), std::end(kOldTools));
  if (done = run(tools, kInstallSeconds); !done) return done.error();
  add_packages(environment, pip);
  done = run(pip, kInstallSeconds);
  return done ? Result<void>() : done.error();
}

Result<void> install_with_uv(const Environment& environment, const std::string& python,
                             const fs::path& folder) {
  const std::string uv = find_uv();
  if (uv.empty()) {
    return Error{"environment", "the program uv is needed to install a backend: pip install uv",
                 "uv"};
  }
  auto done =
      run({uv, "venv", "--quiet", "--clear", "--python", python, folder.string()}, kVenvSeconds);
  if (!done) return done.error();
  std::vector<std::string> arguments = {
      uv, "pip", "install", "--quiet", "--python", (folder / "bin" / "python").string()};
  add_packages(environment, arguments);
  done = run(arguments, kInstallSeconds);
  return done ? Result<void>() : done.error();
}

Result<void> install_on(const Environment& environment, const std::string& version,
                        const fs::path& folder, const InstallProgress& progress) {
  progress(fmt::format("looking for Python {}", version));
  const Result<std::string> python = find_python(version);
  if (!python) return python.error();
  progress(
      fmt::format("installing {} on Python {}", fmt::join(environment.packages, ", "), version));
  return version == "3.6" ? install_with_pip(environment, *python, folder)
                          : install_with_uv(environment, *python, folder);
}

}  // namespace

fs::path environment_folder(const Environment& environment) {
  return home_folder() / "environments" /
         (environment.uses.empty() ? environment.name : environment.uses);
}

bool is_installed(const Environment& environment) {
  if (!environment.command.empty()) return true;
  if (!environment.uses.empty()) {
    const Result<Environment> other = read_environment(environment.uses);
    return other && is_installed(*other);
  }
  std::ifstream stamp(environment_folder(environment) / kStamp);
  std::string written;
  return stamp >> written && written == environment.fingerprint();
}

Result<void> install(const Environment& environment, const InstallProgress& progress) {
  if (!environment.uses.empty()) {
    const Result<Environment> other = read_environment(environment.uses);
    return other ? install(*other, progress) : other.error();
  }
  std::error_code failure;
  const fs::path folder = environment_folder(environment);
  fs::create_directories(folder.parent_path(), failure);
  const Lock lock(folder.string() + ".lock");
  if (is_installed(environment)) return {};
  if (auto done = install_system_packages(environment); !done) return done;
  Result<void> last = Error{"environment", "no Python is named", environment.name};
  for (const std::string& version : environment.pythons) {
    const Partial partial{folder.string() + ".partial"};
    fs::remove_all(partial.folder, failure);
    last = install_on(environment, version, partial.folder, progress);
    if (!last) continue;
    std::ofstream(partial.folder / kStamp) << environment.fingerprint() << '\n';
    fs::remove_all(folder, failure);
    fs::rename(partial.folder, folder, failure);
    if (failure) {
      return Error{"environment", fmt::format("{}: {}", folder.string(), failure.message()),
                   folder.string()};
    }
    return {};
  }
  return Error{
      "environment",
      fmt::format("backend {} cannot be installed: {}", environment.name, last.error().message),
      environment.name};
}

}  // namespace assay

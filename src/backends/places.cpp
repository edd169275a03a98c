#include "backends/places.h"

#include <cstdlib>
#include <string>

namespace assay {
namespace {

namespace fs = std::filesystem;

fs::path variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? fs::path(value) : fs::path();
}

// $XDG_…, or its place below the user's own folder.
fs::path user_folder(const char* name, const char* below) {
  const fs::path asked = variable(name);
  return asked.empty() ? variable("HOME") / below : asked;
}

}  // namespace

fs::path workers_folder() {
  if (fs::path asked = variable("ASSAY_WORKERS"); !asked.empty()) return asked;
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (fs::path above = program; above != above.parent_path(); above = above.parent_path()) {
    for (const fs::path& place : {above / "workers", above / "share" / "assay" / "workers"}) {
      if (fs::is_directory(place / "assay_worker", ignored)) return place;
    }
  }
  return program / "workers";
}

std::vector<fs::path> environment_folders() {
  std::vector<fs::path> folders;
  std::string asked = variable("ASSAY_ENVIRONMENTS").string();
  for (std::size_t end = 0; !asked.empty() && end != std::string::npos;) {
    end = asked.find(':');
    if (end != 0) folders.emplace_back(asked.substr(0, end));
    asked.erase(0, end == std::string::npos ? end : end + 1);
  }
  folders.push_back(user_folder("XDG_CONFIG_HOME", ".config") / "assay" / "environments");
  folders.push_back(workers_folder() / "environments");
  return folders;
}

fs::path home_folder() {
  const fs::path asked = variable("ASSAY_HOME");
  return asked.empty() ? user_folder("XDG_DATA_HOME", ".local/share") / "assay" : asked;
}

}  // namespace assay

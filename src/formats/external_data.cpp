#include "formats/external_data.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "formats/failure.h"
#include "graph/names.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

// A named pipe would wait for a writer, a device may do anything: only regular files are read.
std::size_t regular_size(const Descriptor& file) {
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) {
    throw FormatError(errno == ENOENT ? "missing" : "unreadable", std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) throw FormatError("unreadable", "not a regular file");
  return static_cast<std::size_t>(status.st_size);
}

[[noreturn]] void fail_outside(const std::string& location) {
  throw FormatError("unreadable", fmt::format("external data outside the model's folder: {}",
                                              in_quotes(location)));
}

bool is_inside(const fs::path& folder, const fs::path& file) {
  const auto [end, rest] = std::ranges::mismatch(folder, file);
  return end == folder.end() && rest != file.end();
}

}  // namespace

SharedBytes map_file(const fs::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  const std::size_t size = regular_size(file);
  if (size == 0) return {};
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) throw FormatError("unreadable", std::strerror(errno));
  std::shared_ptr<const void> owner(
      data, [size](const void* mapped) { ::munmap(const_cast<void*>(mapped), size); });
  return {std::move(owner), {static_cast<const char*>(data), size}};
}

const SharedBytes& ExternalFiles::file(const std::string& location) {
  const auto known = files_.find(location);
  if (known != files_.end()) return known->second;
  if (folder_.empty()) {
    throw FormatError("unreadable", fmt::format("external data {} of a model without a folder",
                                                in_quotes(location)));
  }
  const fs::path relative(location);
  const bool climbs = std::ranges::find(relative, "..") != relative.end();
  if (location.empty() || location.find('\0') != std::string::npos || relative.is_absolute() ||
      climbs) {
    fail_outside(location);
  }
  std::error_code failed;
  const fs::path folder = fs::canonical(folder_, failed);
  const fs::path path = failed ? fs::path() : fs::canonical(folder / relative, failed);
  if (failed) {
    throw FormatError("missing",
                      fmt::format("external data {}: {}", in_quotes(location), failed.message()));
  }
  if (!is_inside(folder, path)) fail_outside(location);
  try {
    return files_[location] = map_file(path);
  } catch (const FormatError& error) {
    throw FormatError(error.kind(),
                      fmt::format("external data {}: {}", in_quotes(location), error.what()));
  }
}

SharedBytes ExternalFiles::bytes(const ExternalPlace& place, std::uint64_t size) {
  const SharedBytes& whole = file(place.location);
  if (place.length && *place.length != size) {
    throw FormatError("invalid", fmt::format("external data {}: the shape needs {} bytes, the "
                                             "length is given as {}",
                                             in_quotes(place.location), size, *place.length));
  }
  const std::size_t available =
      place.offset > whole.bytes.size() ? 0 : whole.bytes.size() - place.offset;
  if (available < size || place.offset > whole.bytes.size()) {
    throw FormatError("unreadable", fmt::format("external data {}: {} bytes are needed at {}, the "
                                                "file has {}",
                                                in_quotes(place.location), size, place.offset,
                                                whole.bytes.size()));
  }
  return {whole.owner, whole.bytes.substr(place.offset, size)};
}

}  // namespace assay

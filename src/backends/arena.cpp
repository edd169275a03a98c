#include "backends/arena.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace assay {
namespace {

constexpr std::uint64_t kAlignment = 64;
constexpr const char* kFolder = "ASSAY_SHARED_MEMORY";

// Has `call` (preadv, pwritev) pass all parts, however few bytes it takes at a time.
template <class F>
bool pass(F call, int file, std::uint64_t offset, std::vector<iovec>& parts) {
  for (std::size_t at = 0; at < parts.size();) {
    const std::size_t count = std::min<std::size_t>(parts.size() - at, IOV_MAX);
    const ssize_t done =
        call(file, parts.data() + at, static_cast<int>(count), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    offset += static_cast<std::uint64_t>(done);
    auto left = static_cast<std::size_t>(done);
    for (; at < parts.size() && left >= parts[at].iov_len; ++at) left -= parts[at].iov_len;
    if (left == 0) continue;
    parts[at].iov_base = static_cast<char*>(parts[at].iov_base) + left;
    parts[at].iov_len -= left;
  }
  return true;
}

}  // namespace

Result<Arena> Arena::make() {
  const char* asked = std::getenv(kFolder);
  const std::string folder = asked ? asked : "/dev/shm";
  Descriptor file(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  // Systems without such a folder have memory files all the same.
  if (file.number() < 0 && !asked) file = Descriptor(memfd_create("assay", MFD_CLOEXEC));
  if (file.number() < 0) {
    return Error{"environment", fmt::format("{}: {}", folder, std::strerror(errno)), folder};
  }
  return Arena(std::move(file));
}

Result<Arena> Arena::make_lasting() {
  if (std::getenv(kFolder)) return make();
  Descriptor file(memfd_create("assay", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file.number() < 0 || fcntl(file.number(), F_ADD_SEALS, F_SEAL_SHRINK) != 0) return make();
  Arena arena(std::move(file));
  arena.lasting_ = true;
  return arena;
}

std::optional<std::uint64_t> Arena::append(const void* bytes, std::size_t count) {
  const std::uint64_t start = (used_ + kAlignment - 1) / kAlignment * kAlignment;
  const char* next = static_cast<const char*>(bytes);
  for (std::size_t done = 0; done < count;) {
    const ssize_t wrote =
        pwrite(descriptor(), next + done, count - done, static_cast<off_t>(start + done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return std::nullopt;
    done += static_cast<std::size_t>(wrote);
  }
  used_ = start + count;
  return start;
}

bool Arena::read(std::uint64_t offset, void* bytes, std::size_t count) const {
  char* next = static_cast<char*>(bytes);
  for (std::size_t done = 0; done < count;) {
    const ssize_t got =
        pread(descriptor(), next + done, count - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

std::optional<Tensor> Arena::read(std::uint64_t offset, ElementType type,
                                  const Shape& shape) const {
  Tensor tensor = Tensor::uninitialized(type, shape);
  if (!read(offset, tensor.mutable_raw(), tensor.byte_size())) return std::nullopt;
  return tensor;
}

bool Arena::write(std::uint64_t offset, std::vector<iovec> parts) {
  return pass(pwritev, descriptor(), offset, parts);
}

bool Arena::read(std::uint64_t offset, std::vector<iovec> parts) const {
  return pass(preadv, descriptor(), offset, parts);
}

std::uint64_t Arena::size() const {
  struct stat status {};
  return fstat(descriptor(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

}  // namespace assay

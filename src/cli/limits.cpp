#include "cli/limits.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

#include "tensor/tensor.h"

namespace assay {
namespace {

// The sanitizers reserve address space far beyond what they use.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

constexpr std::uint64_t kRoom = std::uint64_t{1} << 30;  // for the program itself

std::uint64_t machine_bytes() {
  const auto pages = static_cast<std::uint64_t>(std::max(sysconf(_SC_PHYS_PAGES), 1L));
  std::uint64_t bytes = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  for (const char* file :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::uint64_t limit = 0;
    if (std::ifstream(file) >> limit && limit > 0) bytes = std::min(bytes, limit);
  }
  return bytes;
}

}  // namespace

void apply_memory_limit(std::int64_t bytes) {
  const std::uint64_t limit =
      bytes > 0 ? static_cast<std::uint64_t>(bytes) : machine_bytes() / 4 * 3;
  set_memory_limit(limit);
  if (kSanitized) return;
  // Kernels hold up to a few double arrays beside the tensors that they work on.
  const std::uint64_t data =
      std::min(machine_bytes(), limit < kRoom ? 4 * limit : limit + 4 * kRoom);
  rlimit current{};
  if (getrlimit(RLIMIT_DATA, &current) != 0) return;
  current.rlim_cur = std::min<rlim_t>(current.rlim_max, data + kRoom);
  setrlimit(RLIMIT_DATA, &current);
}

// From the process's own account: what getrusage says counts the memory of whoever started it.
std::int64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::strtoll(line.c_str() + 6, nullptr, 10) * 1024;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace assay

#include "cli/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace assay {

bool colors_on_stdout() { return isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr; }

ProgressLine::ProgressLine(std::string title)
    : title_(std::move(title)), active_(isatty(STDERR_FILENO) != 0) {}

ProgressLine::~ProgressLine() {
  if (active_) fmt::print(stderr, "\r\033[K");
}

void ProgressLine::show(std::size_t done, std::size_t total, std::string_view what) {
  const auto now = std::chrono::steady_clock::now();
  if (!active_ || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  fmt::print(stderr, "\r\033[K{} {}/{} {}", title_, done, total, what.substr(0, 50));
  std::fflush(stderr);
}

}  // namespace assay

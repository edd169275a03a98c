#include "cli/terminal.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#include <fmt/format.h>

namespace assay {
namespace {

constexpr std::size_t kWidestColumn = 60;  // a longer cell stands out, and moves no other row

bool may_color(int stream) { return isatty(stream) != 0 && std::getenv("NO_COLOR") == nullptr; }

// Columns that the text takes: characters, without escape sequences.
std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\033') {
      while (i < text.size() && text[i] != 'm') ++i;
    } else if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) {
      ++width;
    }
  }
  return width;
}

}  // namespace

bool colors_on_stdout() { return may_color(STDOUT_FILENO); }
bool colors_on_stderr() { return may_color(STDERR_FILENO); }

std::string Style::mark(const char* code, std::string_view text) const {
  return on_ ? fmt::format("\033[{}m{}\033[0m", code, text) : std::string(text);
}

std::string Table::text(std::string_view indent) const {
  std::vector<std::size_t> widths;
  for (const auto& cells : rows_) {
    widths.resize(std::max(widths.size(), cells.size()));
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::size_t width = width_of(cells[i]);
      if (width <= kWidestColumn) widths[i] = std::max(widths[i], width);
    }
  }
  std::string result;
  for (const auto& cells : rows_) {
    std::string line(indent);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      line += cells[i];
      line.append(std::max(widths[i], width_of(cells[i])) - width_of(cells[i]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + "\n";
  }
  return result;
}

std::string with_separators(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

std::string bytes_text(std::uint64_t bytes) {
  static constexpr std::array<const char*, 5> kUnits = {"bytes", "kB", "MB", "GB", "TB"};
  double size = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (size >= 1000 && unit + 1 < kUnits.size()) {
    size /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", size, kUnits[unit]);
}

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", with_separators(count), noun, count == 1 ? "" : "s");
}

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

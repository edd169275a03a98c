// What a person sees: colour and progress, only on a terminal, and columns that line up.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Whether the stream may get colour: a terminal, and NO_COLOR is not set.
bool colors_on_stdout();
bool colors_on_stderr();

// Marks text, or leaves it as it is where there is no colour.
class Style {
 public:
  explicit Style(bool on = colors_on_stdout()) : on_(on) {}
  std::string bold(std::string_view text) const { return mark("1", text); }
  std::string dim(std::string_view text) const { return mark("2", text); }
  std::string bad(std::string_view text) const { return mark("1;31", text); }
  std::string good(std::string_view text) const { return mark("32", text); }
  std::string warn(std::string_view text) const { return mark("33", text); }

 private:
  std::string mark(const char* code, std::string_view text) const;
  bool on_;
};

// Rows of cells in columns as wide as their widest cell; marks take no width.
class Table {
 public:
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  std::string text(std::string_view indent = "  ") const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

std::string with_separators(std::int64_t number);  // 1,234,567
std::string bytes_text(std::uint64_t bytes);       // "12.1 MB"
// "1 node", "2 nodes"
std::string counted(std::int64_t count, std::string_view noun);

class ProgressLine {
 public:
  explicit ProgressLine(std::string title);
  ~ProgressLine();  // wipes the line
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void show(std::size_t done, std::size_t total, std::string_view what);

 private:
  std::string title_;
  bool active_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace assay

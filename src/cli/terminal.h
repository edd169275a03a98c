// What a person sees while waiting: one line of progress, only on a terminal.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace assay {

// Whether the stream may get colour: a terminal, and NO_COLOR is not set.
bool colors_on_stdout();

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

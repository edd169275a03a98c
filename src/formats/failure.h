// FormatError: how the readers of this folder give up from deep inside a file. It never leaves the
// folder: the functions that open files turn it into the Error of a Result.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "base/result.h"
#include "tensor/tensor.h"

namespace assay {

class FormatError : public std::runtime_error {
 public:
  FormatError(std::string kind, const std::string& message)
      : std::runtime_error(message), kind_(std::move(kind)) {}
  const std::string& kind() const { return kind_; }

 private:
  std::string kind_;
};

// Runs `body`, and makes an Error that names the file of what it throws.
template <class F>
auto guard_format(const std::string& file, F&& body) -> Result<decltype(body())> {
  try {
    return body();
  } catch (const FormatError& error) {
    return Error{error.kind(), file + ": " + error.what(), file};
  } catch (const MemoryLimitError& error) {
    return Error{"limit", file + ": " + error.what(), file};
  }
}

}  // namespace assay

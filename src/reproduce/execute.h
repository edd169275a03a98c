// Executes scripts in a backend's own environment.
#pragma once

#include <filesystem>
#include <string>

#include "backends/process.h"
#include "base/result.h"

namespace assay {

struct Execution {
  bool finished = false;  // within the time
  Ending ending{};
  std::string printed, errors;
};

// The interpreter is the one that the backend's worker runs in, without Assay's own modules. Kind
// "environment" if the worker is no Python program.
Result<Execution> execute(const std::filesystem::path& script, const std::string& backend,
                          double seconds);

}  // namespace assay

// The backends that a command is given by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "cli/command.h"

namespace assay {

// Names that are not empty, and each once; otherwise an Error of kind "usage".
Result<void> check_names(const std::vector<std::string>& names);

// How they run: with what the command line says of all commands; each run may take so many seconds.
BackendOptions backend_options(const Common& common, double seconds);

// The same in two steps, so that they start while a model is read.
Result<OpeningBackends> begin_listed(const std::vector<std::string>& names,
                                     const BackendOptions& how);

// Started, in the order of their names. Errors are those of check_names and open_backend.
Result<std::vector<std::unique_ptr<Backend>>> open_listed(const std::vector<std::string>& names,
                                                          const BackendOptions& how);

}  // namespace assay

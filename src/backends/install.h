// Installing environments, once, and knowing what is installed.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "backends/backend_name.h"
#include "backends/worker.h"

namespace assay {

// What an installed environment can do in a mode, as its worker told when it was asked.
struct Capabilities {
  WorkerIdentity identity;
  OperatorList operators;
};

std::filesystem::path environment_folder(const Environment& environment);
bool is_installed(const Environment& environment);

// What to start for a backend; kind "environment", with the way to get it, if it is not installed.
Result<WorkerCommand> worker_command(const BackendName& backend);

// Asked once for each release and table, then remembered.
Result<Capabilities> probe(const BackendName& backend);
std::optional<Capabilities> remembered(const BackendName& backend);

// Every backend that has a file, with its modes, whether it is installed or not; files that are
// wrong are left out.
std::vector<BackendName> known_backends();
// Of those that are installed and have been asked: who has an operator ("ai.onnx.ml.Scaler").
std::map<std::string, std::vector<std::string>> backends_by_operator();

using InstallProgress = std::function<void(const std::string& what)>;
// Does nothing if it is there and up to date. A failure leaves nothing behind and ends with what
// the installer said.
Result<void> install(const Environment& environment, const InstallProgress& progress);

}  // namespace assay

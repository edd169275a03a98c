// `assay run` on a backend other than the reference.
#pragma once

#include "cli/command.h"
#include "cli/model.h"
#include "cli/run_report.h"

namespace assay {

// Exit code: found if the backend failed or died, environment if it lacks what the model needs.
Result<ExitCode> run_on_backend(const RunRequest& request, const DataOptions& data, int repeat,
                                double worker_timeout, Report& report);

}  // namespace assay

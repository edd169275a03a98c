// `assay run` on a backend other than the reference.
#pragma once

#include "cli/command.h"
#include "cli/model.h"
#include "cli/run_report.h"

namespace assay {

struct BackendRun {
  int repeat = 0;          // so many times more
  double seconds = 600;    // that the worker may take each time
  bool unchecked = false;  // models that are not valid too
};

// Exit code: found if the backend failed or died, environment if it lacks what the model needs.
Result<ExitCode> run_on_backend(const RunRequest& request, const DataOptions& data,
                                const BackendRun& how, Report& report);

}  // namespace assay

// assay compare of a model that validate refuses.
#pragma once

#include "backends/backend.h"
#include "cli/command.h"
#include "cli/model.h"
#include "validate/validate.h"

namespace assay {

struct InvalidRequest {
  std::string path;  // of the model's file
  const Model& model;
  const ValidationResult& validation;
  std::vector<std::string> reports;
  DataOptions data;
};
// Exit code 1 if a backend accepts the model or dies of it, 0 if all refuse.
Result<ExitCode> compare_invalid_model(const InvalidRequest& request, OpeningBackends opening,
                                       Report& report);

}  // namespace assay

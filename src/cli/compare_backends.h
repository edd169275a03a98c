// assay compare of one model on several backends.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/model.h"
#include "compare/comparison.h"

namespace assay {

// What the command line asks for.
struct CompareRequest {
  std::string model, other, labels, output;
  std::vector<std::string> backends, relative, absolute, metrics, reports, bisect;
  DataOptions data;
  bool tests = false;      // the model is a folder of backend tests
  std::size_t sample = 0;  // of which about so many are taken; 0: all
  double worker_timeout = 600;
};

// The data in pieces, the labels, the criteria, for a model that is valid.
Result<Subject> read_subject(const CompareRequest& request, std::shared_ptr<const Model> model);

// Where a model's file is: a folder stands for the model.onnx in it.
std::string model_file(const std::string& path);

// Runs, localises, writes what was asked for, and reports. Exit code 1 if anything was found.
Result<ExitCode> compare_backends(const CompareRequest& request, const Subject& subject,
                                  OpeningBackends opening, Report& report);

}  // namespace assay

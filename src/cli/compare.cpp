// assay compare: one model on several backends, with a verdict that has a reason.
#include <filesystem>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/backend_list.h"
#include "cli/command.h"
#include "cli/compare_backends.h"
#include "cli/compare_files.h"
#include "cli/compare_invalid.h"
#include "cli/report_files.h"
#include "cli/survey_report.h"
#include "cli/terminal.h"
#include "compare/conformance.h"
#include "compare/survey.h"
#include "compare/test_set.h"
#include "validate/validate.h"

namespace assay {
namespace {

constexpr const char* kHelp =
    R"(Runs the model on every backend, and says who disagrees, where it starts, and whether rounding
explains it. Outputs are judged on runs that nobody watches; inner values come from a second run and
are each judged by the rounding bound of their node, on the backend's own inputs of that node.

With labels (a class an instance, or the true values of the first output) the published distances
are computed as well; without them the reference's outputs stand for the truth.

With a second file the two are one network before and after a conversion: their weights are matched,
then their inner values, and the first pair that differs is named, and whether weights or operators
are to blame. The reference runs both, or --backends X, or --backends X,Y one each.

Examples:
  assay compare model.onnx --backends reference,onnxruntime --random
  assay compare model.onnx --backends onnxruntime,torch --data digits.npz --labels labels.npy
  assay compare model.onnx --backends onnxruntime,openvino --random --output suspects
  assay compare model.onnx --backends reference,onnxruntime --random --report report.html
  assay compare model.onnx --backends onnxruntime-1.20.1 --random --bisect onnxruntime 1.19..1.31
  assay compare before.onnx after.onnx --random)";

// Reports are about one model on several backends.
Result<void> check_reports_of(const CompareRequest& request) {
  const bool other = !request.other.empty() || request.tests;
  if (other && !request.reports.empty()) {
    return Error{"usage", "--report is for one model on several backends", request.reports.front()};
  }
  return check_reports(request.reports);
}

Result<ExitCode> run_files(const CompareRequest& request, Report& report) {
  if (!request.labels.empty()) {
    return Error{"usage", "--labels is for one model on several backends", request.labels};
  }
  return compare_two_files(
      {request.model, request.other, request.backends, request.data, request.worker_timeout},
      report);
}

Result<ExitCode> run_model(const CompareRequest& request, Report& report) {
  Result<OpeningBackends> opening =
      begin_listed(request.backends, backend_options(report.common(), request.worker_timeout));
  if (!opening) return opening.error();
  Result<Model> read = read_model(request.model);
  if (!read) return read.error();
  auto model = std::make_shared<const Model>(*std::move(read));
  if (const ValidationResult validation = validate(*model); !validation.valid()) {
    return compare_invalid_model(
        {model_file(request.model), *model, validation, request.reports, request.data},
        *std::move(opening), report);
  }
  const Result<Subject> subject = read_subject(request, std::move(model));
  if (!subject) return subject.error();
  return compare_backends(request, *subject, *std::move(opening), report);
}

Result<ExitCode> run_survey(const CompareRequest& request, Report& report) {
  const Result<std::vector<std::filesystem::path>> folders = find_tests(request.model);
  if (!folders) return folders.error();
  Result<std::vector<std::unique_ptr<Backend>>> backends =
      open_listed(request.backends, backend_options(report.common(), request.worker_timeout));
  if (!backends) return backends.error();
  const std::vector<std::filesystem::path> chosen = sample({*folders, {}}, request.sample).folders;
  SurveyReport told;
  ProgressLine progress("compare");
  survey(chosen, *backends, report.common().seed, [&](const SurveyCase& one) {
    progress.show(told.cases(), chosen.size(), one.id);
    told.add(one);
  });
  told.finish(report.document, report.text);
  return told.found() ? ExitCode::found : ExitCode::clean;
}

Result<ExitCode> run(CompareRequest& request, Report& report) {
  request.data.seed = report.common().seed;
  bring_own_data(request.model, request.data);
  if (Result<void> named = check_reports_of(request); !named) return named.error();
  if (!request.other.empty()) return run_files(request, report);
  if (request.backends.empty()) {
    return Error{"usage", "--backends is needed: what runs the model", "--backends"};
  }
  return request.tests ? run_survey(request, report) : run_model(request, report);
}

Action configure(CLI::App& app) {
  auto options = std::make_shared<CompareRequest>();
  app.add_option("MODEL", options->model, "The model")->required()->type_name("");
  app.add_option("OTHER", options->other, "Another file of the same network")->type_name("");
  app.add_option("--backends", options->backends, "What runs it, with commas between")
      ->delimiter(',')
      ->type_name("A,B,…");
  app.add_option("--data,--inputs", options->data.inputs, "Data, as for run")
      ->allow_extra_args(false)
      ->type_name("DATA");
  app.add_option("--labels", options->labels, "The truth: a class an instance, or values")
      ->type_name("L.npy");
  app.add_option("--rtol", options->relative, "Relative tolerance in the place of the bound")
      ->allow_extra_args(false)
      ->type_name("[OUTPUT=]N");
  app.add_option("--atol", options->absolute, "Absolute tolerance in the place of the bound")
      ->allow_extra_args(false)
      ->type_name("[OUTPUT=]N");
  app.add_option("--metric", options->metrics, "bound, mad, class, l2 or cosine")
      ->allow_extra_args(false)
      ->type_name("[OUTPUT=]METRIC");
  app.add_flag("--tests", options->tests,
               "MODEL is a folder of ONNX backend tests: compare on each, with its own data");
  app.add_option("--sample", options->sample, "With --tests: about so many of them, spread evenly")
      ->type_name("N");
  app.add_flag("--random", options->data.random, "Draw the inputs that are not given");
  app.add_option("--output", options->output,
                 "Write each suspect there, as an ONNX backend test and as a script")
      ->type_name("FOLDER");
  app.add_option("--report", options->reports,
                 "Write a report there: .html (a page), .sarif or .xml (JUnit)")
      ->allow_extra_args(false)
      ->type_name("FILE");
  app.add_option("--bisect", options->bisect,
                 "Name the first bad and the first good release, installing what that takes")
      ->expected(2)
      ->type_name("BACKEND A..B");
  app.add_option("--worker-timeout", options->worker_timeout,
                 "Most seconds that a worker may take for a run (default: 600)")
      ->type_name("SECONDS");
  return [options](Report& report) { return run(*options, report); };
}

}  // namespace

Command compare_command() {
  return {"compare", "Compare backends on a model, and say why they differ", kHelp, configure};
}

}  // namespace assay

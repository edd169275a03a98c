// assay conformance: ONNX backend tests and case files, on every backend asked for.
#include "compare/conformance.h"

#include <algorithm>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/terminal.h"
#include "compare/test_set.h"

namespace assay {
namespace {

struct Options {
  std::vector<std::string> paths;
  std::vector<std::string> backends = {"reference"};
  std::string write;
  std::size_t sample = 0;
  double case_timeout = 120;
  int jobs = 0;
};

nlohmann::ordered_json to_json(const ConformanceResult& result) {
  nlohmann::ordered_json cases = nlohmann::ordered_json::array();
  double evaluation = 0;
  for (const CaseResult& one : result.cases) {
    evaluation += one.evaluation_seconds;
    nlohmann::ordered_json& entry = cases.emplace_back(nlohmann::ordered_json::object());
    entry["id"] = one.id;
    entry["status"] = to_text(one.status);
    entry["detail"] = one.detail;
    entry["seconds"] = one.seconds;
  }
  return {{"name", result.backend},
          {"version", result.version},
          {"total", result.cases.size()},
          {"passed", result.count(CaseStatus::passed)},
          {"failed", result.count(CaseStatus::failed)},
          {"unsupported", result.count(CaseStatus::unsupported)},
          {"errors", result.count(CaseStatus::error)},
          {"crashed", result.count(CaseStatus::crashed)},
          {"seconds", result.seconds},
          {"evaluation_seconds", evaluation},
          {"cases", std::move(cases)}};
}

std::string to_page(const ConformanceResult& result) {
  std::string page;
  for (const CaseResult& one : result.cases)
    if (one.status != CaseStatus::passed)
      page += fmt::format("{:11}  {}  {}\n", to_text(one.status), one.id, one.detail);
  return page +
         fmt::format(
             "{} {}: {} of {} passed, {} failed, {} unsupported, {} errors, {} crashed, {:.2f} s\n",
             result.backend, result.version, result.count(CaseStatus::passed), result.cases.size(),
             result.count(CaseStatus::failed), result.count(CaseStatus::unsupported),
             result.count(CaseStatus::error), result.count(CaseStatus::crashed), result.seconds);
}

// Case files as ONNX backend tests, a folder a case, for other projects to run.
Result<ExitCode> write_tests(const TestSet& tests, const std::string& folder, Report& report) {
  for (const TextCase& one : tests.cases) {
    const std::string stem = std::filesystem::path(one.file).stem().string();
    const auto target = std::filesystem::path(folder) / fmt::format("{}_{}", stem, one.name);
    if (Result<void> written = write_backend_test(to_test(one), target); !written)
      return written.error();
  }
  report.text = fmt::format("wrote {} tests to {}\n", tests.cases.size(), folder);
  report.document["written"] = tests.cases.size();
  return ExitCode::clean;
}

Result<ConformanceResult> run_backend(const Options& options, const std::string& backend,
                                      const TestSet& tests, const Common& common) {
  BackendOptions backend_options;
  backend_options.worker.threads = common.threads > 0 ? common.threads : 1;
  backend_options.worker.seed = common.seed;
  backend_options.limits = {options.case_timeout, common.memory_limit};
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  ProgressLine progress(fmt::format("conformance {}", backend));
  return run_tests(tests, backend, backend_options, options.jobs > 0 ? options.jobs : cores,
                   [&](std::size_t done, const CaseResult& last) {
                     progress.show(done, tests.size(), last.id);
                   });
}

Result<ExitCode> run(const Options& options, Report& report) {
  Result<TestSet> tests = collect_tests(options.paths);
  if (!tests) return tests.error();
  if (!options.write.empty()) return write_tests(*tests, options.write, report);
  tests = sample(*std::move(tests), options.sample);
  report.document["backends"] = nlohmann::ordered_json::array();
  bool all = true;
  for (const std::string& backend : options.backends) {
    const Result<ConformanceResult> result = run_backend(options, backend, *tests, report.common());
    if (!result) return result.error();
    if (report.common().json) report.document["backends"].push_back(to_json(*result));
    report.text += to_page(*result);
    all = all && result->count(CaseStatus::passed) == static_cast<std::int64_t>(tests->size());
  }
  return all ? ExitCode::clean : ExitCode::found;
}

}  // namespace

Command conformance_command() {
  return {"conformance", "Run ONNX backend tests and say which pass",
          "Examples:\n  assay conformance build/onnx-tests/node\n"
          "  assay conformance build/onnx-tests/node --backend torch --backend jax",
          [](CLI::App& app) -> Action {
            auto options = std::make_shared<Options>();
            app.add_option("PATH", options->paths, "Folders of ONNX backend tests, or case files")
                ->required();
            app.add_option("--backend", options->backends, "Backends to run (default: reference)")
                ->allow_extra_args(false)
                ->type_name("NAME");
            app.add_option("--sample", options->sample, "Run about so many, spread evenly")
                ->type_name("N");
            app.add_option("--case-timeout", options->case_timeout,
                           "Most seconds that a worker may take for a test (default: 120)")
                ->type_name("SECONDS");
            app.add_option("--jobs", options->jobs,
                           "Tests at the same time, each by a worker or, of the reference,\na "
                           "thread of its own (default: one a processor)")
                ->check(CLI::Range(0, 256).description(""))
                ->type_name("N");
            app.add_option("--write", options->write,
                           "Write case files as ONNX backend tests to this folder");
            return [options](Report& report) { return run(*options, report); };
          }};
}

}  // namespace assay

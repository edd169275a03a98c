// assay conformance: ONNX backend tests and case files, on every backend asked for.
#include "compare/conformance.h"

#include <chrono>
#include <iterator>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/terminal.h"
#include "compare/case_file.h"
#include "generated/version.h"

namespace assay {
namespace {

struct Options {
  std::vector<std::string> paths;
  std::vector<std::string> backends = {"reference"};
  std::string write;
};

nlohmann::ordered_json to_json(const ConformanceResult& result) {
  nlohmann::ordered_json cases = nlohmann::ordered_json::array();
  double evaluation = 0;
  for (const CaseResult& one : result.cases) {
    evaluation += one.evaluation_seconds;
    cases.push_back({{"id", one.id},
                     {"status", to_text(one.status)},
                     {"detail", one.detail},
                     {"seconds", one.seconds}});
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
         fmt::format("{} {}: {} of {} passed, {} failed, {} unsupported, {} errors, {:.2f} s\n",
                     result.backend, result.version, result.count(CaseStatus::passed),
                     result.cases.size(), result.count(CaseStatus::failed),
                     result.count(CaseStatus::unsupported), result.count(CaseStatus::error),
                     result.seconds);
}

// What the paths hold: folders of backend tests, and cases of case files.
struct Tests {
  std::vector<std::filesystem::path> folders;
  std::vector<TextCase> cases;
  std::size_t size() const { return folders.size() + cases.size(); }
};

Result<Tests> collect(const Options& options) {
  Tests tests;
  for (const std::string& path : options.paths) {
    const auto files = find_case_files(path);
    for (const auto& file : files) {
      Result<std::vector<TextCase>> cases = read_cases(file);
      if (!cases) return cases.error();
      std::move(cases->begin(), cases->end(), std::back_inserter(tests.cases));
    }
    if (!files.empty()) continue;
    const auto found = find_tests(path);
    if (!found) return found.error();
    tests.folders.insert(tests.folders.end(), found->begin(), found->end());
  }
  return tests;
}

ConformanceResult run_reference(const Tests& tests, std::uint64_t seed) {
  ProgressLine progress("conformance");
  const auto show = [&](std::size_t done, std::size_t, const CaseResult& one) {
    progress.show(done, tests.size(), one.id);
  };
  const auto start = std::chrono::steady_clock::now();
  ConformanceResult result = run_backend_tests(tests.folders, seed, show);
  for (const TextCase& one : tests.cases) {
    result.cases.push_back(run_text_case(one, seed));
    show(result.cases.size(), tests.size(), result.cases.back());
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.backend = "reference";
  result.version = kVersion;
  return result;
}

// Case files as ONNX backend tests, a folder a case, for other projects to run.
Result<ExitCode> write_tests(const Tests& tests, const std::string& folder, Report& report) {
  for (const TextCase& one : tests.cases) {
    const std::string stem = std::filesystem::path(one.file).stem().string();
    const auto target = std::filesystem::path(folder) / fmt::format("{}_{}", stem, one.name);
    if (Result<void> written = write_backend_test(one, target); !written) return written.error();
  }
  report.text = fmt::format("wrote {} tests to {}\n", tests.cases.size(), folder);
  report.document["written"] = tests.cases.size();
  return ExitCode::clean;
}

Result<ExitCode> run(const Options& options, Report& report) {
  for (const std::string& backend : options.backends)
    if (backend != "reference")
      return Error{"environment", fmt::format("backend {} is not installed", backend), backend};
  const Result<Tests> tests = collect(options);
  if (!tests) return tests.error();
  if (!options.write.empty()) return write_tests(*tests, options.write, report);
  const ConformanceResult result = run_reference(*tests, report.common().seed);
  report.document["backends"] = {to_json(result)};
  report.text = to_page(result);
  const auto passed = static_cast<std::size_t>(result.count(CaseStatus::passed));
  return passed == result.cases.size() ? ExitCode::clean : ExitCode::found;
}

}  // namespace

Command conformance_command() {
  return {"conformance", "Run ONNX backend tests and say which pass",
          "Example:\n  assay conformance build/onnx-tests/node", [](CLI::App& app) -> Action {
            auto options = std::make_shared<Options>();
            app.add_option("PATH", options->paths, "Folders of ONNX backend tests, or case files")
                ->required();
            app.add_option("--backend", options->backends, "Backends to run (default: reference)");
            app.add_option("--write", options->write,
                           "Write case files as ONNX backend tests to this folder");
            return [options](Report& report) { return run(*options, report); };
          }};
}

}  // namespace assay

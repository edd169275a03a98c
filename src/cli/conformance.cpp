// assay conformance: ONNX backend tests and case files, on every backend asked for.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/terminal.h"
#include "compare/conformance.h"
#include "generated/version.h"

namespace assay {
namespace {

struct Options {
  std::vector<std::string> paths;
  std::vector<std::string> backends = {"reference"};
};

nlohmann::ordered_json to_json(const ConformanceResult& result) {
  nlohmann::ordered_json cases = nlohmann::ordered_json::array();
  double evaluation = 0;
  for (const CaseResult& one : result.cases) {
    evaluation += one.evaluation_seconds;
    cases.push_back({{"id", one.id}, {"status", to_text(one.status)}, {"detail", one.detail},
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
  return page + fmt::format("{} {}: {} of {} passed, {} failed, {} unsupported, {} errors, {:.2f} s\n",
                            result.backend, result.version, result.count(CaseStatus::passed),
                            result.cases.size(), result.count(CaseStatus::failed),
                            result.count(CaseStatus::unsupported), result.count(CaseStatus::error),
                            result.seconds);
}

Result<ExitCode> run(const Options& options, Report& report) {
  std::vector<std::filesystem::path> folders;
  for (const std::string& path : options.paths) {
    const auto found = find_tests(path);
    if (!found) return found.error();
    folders.insert(folders.end(), found->begin(), found->end());
  }
  bool all_passed = true;
  report.document["backends"] = nlohmann::ordered_json::array();
  for (const std::string& backend : options.backends) {
    if (backend != "reference")
      return Error{"environment", fmt::format("backend {} is not installed", backend), backend};
    ProgressLine progress("conformance");
    ConformanceResult result = run_backend_tests(
        folders, report.common().seed, [&](std::size_t done, std::size_t total, const CaseResult& one) {
          progress.show(done, total, one.id);
        });
    result.backend = backend;
    result.version = kVersion;
    all_passed = all_passed && result.count(CaseStatus::passed) == static_cast<std::int64_t>(result.cases.size());
    report.document["backends"].push_back(to_json(result));
    report.text += to_page(result);
  }
  return all_passed ? ExitCode::clean : ExitCode::found;
}

}  // namespace

Command conformance_command() {
  return {"conformance", "Run ONNX backend tests and say which pass",
          "Example:\n  assay conformance build/onnx-tests/node", [](CLI::App& app) -> Action {
            auto options = std::make_shared<Options>();
            app.add_option("PATH", options->paths, "Folders of ONNX backend tests, or case files")->required();
            app.add_option("--backend", options->backends, "Backends to run (default: reference)");
            return [options](Report& report) { return run(*options, report); };
          }};
}

}  // namespace assay

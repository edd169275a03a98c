#include "cli/compare_backends.h"

#include <chrono>
#include <filesystem>
#include <future>

#include <fmt/format.h>

#include "base/parallel.h"
#include "cli/backend_list.h"
#include "cli/compare_report.h"
#include "cli/data_notes.h"
#include "cli/report_files.h"
#include "cli/terminal.h"
#include "localize/bisect.h"
#include "localize/optimiser.h"
#include "reproduce/findings.h"

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

// Puts each suspect into a folder of its own.
Result<std::vector<std::string>> write_tests(const std::vector<ComparisonFinding>& findings,
                                             const std::filesystem::path& folder) {
  std::vector<std::string> written;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    written.emplace_back();
    if (folder.empty() || !findings[i].suspect) continue;
    const std::filesystem::path target =
        folder / fmt::format("F{}_{}", i + 1, findings[i].suspect->model.graph.name);
    if (Result<void> done = write_backend_test(*findings[i].suspect, target); !done) {
      return done.error();
    }
    written.back() = target.string();
  }
  return written;
}

Result<std::optional<ReleaseRange>> read_range(const CompareRequest& request) {
  if (request.bisect.empty()) return std::optional<ReleaseRange>();
  Result<ReleaseRange> range = parse_range(request.bisect[0], request.bisect[1]);
  if (!range) return range.error();
  return std::optional(*std::move(range));
}

// The releases that were asked for, beside the comparison.
Result<void> bisect(const Subject& subject, const Comparison& comparison,
                    const std::optional<ReleaseRange>& range, const BackendOptions& how,
                    const ComparisonProgress& progress, Report& report) {
  if (!range) return {};
  const Result<ReleaseSearch> search = bisect_releases(subject, comparison, *range, how, progress);
  if (!search) return search.error();
  report.document["releases"] = to_json(*search, *range);
  report.text += to_page(*search, *range);
  return {};
}

// What the comparison says, with what is worth knowing about the data before it.
void tell(const ComparisonReport& told, const Subject& subject, Report& report) {
  const std::vector<std::string> notes = notes_on(subject.model->graph, subject.pieces);
  report.document["notes"] = notes;
  fill_document(told, report.document);
  for (const std::string& note : notes) report.text += fmt::format("note: {}\n", note);
  report.text += to_page(told);
}

// Lets go of backends, which takes their workers a while, beside what remains to be done.
std::vector<std::future<void>> dismiss(std::vector<std::unique_ptr<Backend>>& backends) {
  std::vector<std::future<void>> leaving;
  for (std::unique_ptr<Backend>& backend : backends) {
    leaving.push_back(std::async(std::launch::async, [&backend] { backend.reset(); }));
  }
  return leaving;
}

bool found_something(const Comparison& comparison) {
  return !comparison.findings.empty() ||
         std::any_of(comparison.pairs.begin(), comparison.pairs.end(),
                     [](const PairRow& pair) { return pair.inconsistent(); });
}

}  // namespace

Result<ExitCode> compare_backends(const CompareRequest& request, const Subject& subject,
                                  OpeningBackends opening, Report& report) {
  const Clock::time_point start = Clock::now();
  const Result<std::optional<ReleaseRange>> range = read_range(request);
  if (!range) return range.error();
  const BackendOptions how = backend_options(report.common(), request.worker_timeout);
  set_company(true);
  std::vector<std::unique_ptr<Backend>> backends;
  std::vector<std::future<void>> leaving;  // waited for when all that was compared is gone
  ProgressLine line("compare");
  std::size_t step = 0;
  PairMaps maps(request.backends);
  ShownValues values(request.backends.size());
  ComparisonOptions options;
  options.seed = report.common().seed;
  options.progress = [&](const std::string& what) {
    const std::size_t steps = subject.pieces.size() + 3 * request.backends.size();
    line.show(step, std::max(steps, step), what);
    ++step;
  };
  options.shown = [&](const Shown& shown) {
    maps.add(shown);
    if (!request.reports.empty()) values.add(shown);
  };
  Result<Comparison> comparison = compare(subject, std::move(opening), backends, options);
  if (!comparison) return comparison.error();
  localise_optimisers(subject, backends, options.seed, options.progress, *comparison);
  if (!request.output.empty()) suspect_whole_models(subject, *comparison);
  Result<std::vector<std::string>> tests = write_tests(comparison->findings, request.output);
  if (!tests) return tests.error();
  std::vector<Reproduction> scripts = reproduce_findings(comparison->findings, *tests, backends,
                                                         {options.seed, request.worker_timeout});
  leaving = dismiss(backends);
  const Graph& graph = subject.model->graph;
  tell({*comparison, graph, maps.finish(graph), *std::move(tests), std::move(scripts)}, subject,
       report);
  Result<void> bisected = bisect(subject, *comparison, *range, how, options.progress, report);
  if (!bisected) return bisected.error();
  Result<void> written = write_reports(
      request.reports, {*subject.model, request.model, *comparison, values}, report, start);
  if (!written) return written.error();
  return found_something(*comparison) ? ExitCode::found : ExitCode::clean;
}

}  // namespace assay

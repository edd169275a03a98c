#include "cli/compare_invalid.h"

#include <fmt/format.h>

#include "cli/backend_list.h"
#include "cli/compare_report.h"
#include "cli/finding_json.h"
#include "cli/report_files.h"
#include "cli/terminal.h"
#include "compare/invalid_model.h"
#include "graph/names.h"

namespace assay {
namespace {

std::string reason_of(const Finding& finding) {
  const std::string where = finding.layer.empty() ? "" : printable(finding.layer) + ": ";
  return fmt::format("{}{} ({})", where, finding.message, finding.rule);
}

Result<Job> make_job(const InvalidRequest& request, const std::string& reason) {
  Result<std::vector<Value>> inputs = read_inputs(request.model.graph, request.data);
  if (!inputs) {
    return Error{inputs.error().kind,
                 fmt::format("{}: not valid ({}), and it cannot be run to see who accepts it: {}",
                             request.path, reason, inputs.error().message),
                 inputs.error().where};
  }
  Job job{source_of(std::make_shared<const Model>(request.model), request.path)};
  job.inputs = named_inputs(request.model.graph, *inputs);
  return job;
}

std::string page_of(const InvalidRequest& request, const std::string& reason,
                    const Comparison& comparison) {
  const Style style;
  std::string page =
      fmt::format("{} {}: {}\n", style.bold(request.path), style.warn("is not valid"), reason);
  for (const BackendRecord& record : comparison.backends) {
    const Answer& answer = record.plain.front();
    const std::string what = answer.ok()      ? style.bad("accepts it")
                             : answer.fatal() ? style.bad(finding_kind(answer.outcome))
                                              : style.good("refuses it");
    page += fmt::format("  {} {}: {}{}\n", style.bold(record.name), record.version, what,
                        answer.ok() ? "" : ": " + one_line(answer.message));
  }
  return page;
}

}  // namespace

Result<ExitCode> compare_invalid_model(const InvalidRequest& request, OpeningBackends opening,
                                       Report& report) {
  const auto start = std::chrono::steady_clock::now();
  const std::string reason = reason_of(request.validation.findings.front());
  const Result<Job> job = make_job(request, reason);
  if (!job) return job.error();
  Result<std::vector<std::unique_ptr<Backend>>> backends = opening.finish();
  if (!backends) return backends.error();
  ProgressLine progress("compare");
  std::size_t step = 0;
  const Comparison comparison = compare_invalid(
      *job, reason, *backends,
      [&](const std::string& what) { progress.show(step++, backends->size(), what); });
  report.document["valid"] = false;
  nlohmann::ordered_json& validation = report.document["validation"] =
      nlohmann::ordered_json::array();
  for (const Finding& finding : request.validation.findings) {
    validation.push_back(to_json(finding));
  }
  const ComparisonReport told{
      comparison, request.model.graph, {}, std::vector<std::string>(comparison.findings.size())};
  fill_document(told, report.document);
  report.text = page_of(request, reason, comparison);
  const ShownValues nothing(backends->size());
  Result<void> written = write_reports(
      request.reports, {request.model, request.path, comparison, nothing}, report, start);
  if (!written) return written.error();
  return comparison.findings.empty() ? ExitCode::clean : ExitCode::found;
}

}  // namespace assay

#include "compare/invalid_model.h"

#include <fmt/format.h>

namespace assay {
namespace {

Answer refused(std::string why) {
  Answer answer;
  answer.outcome = Outcome::failed;
  answer.message = std::move(why);
  return answer;
}

Answer run(Backend& backend, const Job& job, const std::string& reason) {
  if (backend.name() == "reference") return refused(reason);
  if (backend.identity().framework == "file") return refused("recorded values run nothing");
  return backend.run(job);
}

}  // namespace

Comparison compare_invalid(const Job& job, const std::string& reason,
                           std::vector<std::unique_ptr<Backend>>& backends,
                           const std::function<void(const std::string&)>& progress) {
  Comparison comparison;
  for (const std::unique_ptr<Backend>& backend : backends) {
    progress(fmt::format("running {}", backend->name()));
    BackendRecord record;
    record.name = backend->name();
    record.framework = backend->identity().framework;
    record.version = backend->identity().version;
    const Answer answer = run(*backend, job, reason);
    record.alive = answer.ok();
    record.plain.push_back(answer);
    comparison.backends.push_back(std::move(record));
    if (!answer.ok() && !answer.fatal()) continue;
    ComparisonFinding finding;
    finding.kind = answer.ok() ? "invalid-accepted" : finding_kind(answer.outcome);
    finding.backend = backend->name();
    finding.node = answer.node;
    finding.op = answer.op;
    finding.signal = answer.signal;
    finding.detail = answer.ok() ? "it runs a model that is not valid: " + reason : answer.message;
    comparison.findings.push_back(std::move(finding));
  }
  return comparison;
}

}  // namespace assay

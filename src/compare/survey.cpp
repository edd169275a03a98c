#include "compare/survey.h"

#include <algorithm>
#include <chrono>

#include "compare/conformance.h"
#include "formats/onnx_import.h"

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

Result<Comparison> compare_on(const std::filesystem::path& folder,
                              std::vector<std::unique_ptr<Backend>>& backends, std::uint64_t seed) {
  Subject subject;
  subject.path = (folder / "model.onnx").string();
  Result<Model> model = read_onnx(subject.path, {});
  if (!model) return model.error();
  subject.model = std::make_shared<const Model>(*std::move(model));
  Result<std::vector<std::vector<Value>>> inputs = read_test_inputs(folder, subject.model->graph);
  if (!inputs) return inputs.error();
  if (inputs->empty()) return Error{"unreadable", "the test has no data", folder.string()};
  subject.pieces = *std::move(inputs);
  ComparisonOptions options;
  options.seed = seed;
  return compare(subject, backends, options);
}

}  // namespace

void survey(const std::vector<std::filesystem::path>& folders,
            std::vector<std::unique_ptr<Backend>>& backends, std::uint64_t seed,
            const std::function<void(const SurveyCase&)>& show) {
  for (const std::filesystem::path& folder : folders) {
    const auto start = Clock::now();
    SurveyCase one{folder.filename().string(), compare_on(folder, backends, seed)};
    one.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    show(one);
  }
}

bool is_alarm(const ComparisonFinding& finding) {
  return finding.kind == "inconsistency" || finding.kind == "nan" || finding.kind == "optimiser" ||
         finding.kind == "nondeterminism";
}

void add_to_totals(const Comparison& comparison, std::vector<SurveyTotal>& totals) {
  for (const BackendRecord& record : comparison.backends) {
    auto total = std::find_if(totals.begin(), totals.end(),
                              [&](const SurveyTotal& one) { return one.name == record.name; });
    if (total == totals.end()) {
      totals.push_back({record.name, record.version});
      total = std::prev(totals.end());
    }
    ++total->models;
    total->answered += record.alive;
    total->judged += static_cast<std::int64_t>(record.judged.size());
    for (const auto& [verdict, count] : count_verdicts(record.judged)) {
      total->verdicts[verdict] += count;
    }
    total->findings += std::count_if(
        comparison.findings.begin(), comparison.findings.end(),
        [&](const ComparisonFinding& one) { return one.backend == record.name && is_alarm(one); });
    total->inconsistent +=
        std::any_of(comparison.pairs.begin(), comparison.pairs.end(), [&](const PairRow& pair) {
          return pair.inconsistent() && (pair.a == record.name || pair.b == record.name);
        });
  }
}

}  // namespace assay

// Survey: backends compared on many small models, each with the data that it comes with.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "compare/comparison.h"

namespace assay {

// What came of one model; the first error instead, where there was nothing to compare.
struct SurveyCase {
  std::string id;
  Result<Comparison> comparison;
  double seconds = 0;
};

// Compares the backends on every folder of a backend test; workers stay alive from one to the next.
void survey(const std::vector<std::filesystem::path>& folders,
            std::vector<std::unique_ptr<Backend>>& backends, std::uint64_t seed,
            const std::function<void(const SurveyCase&)>& show);

// What one backend did over a survey.
struct SurveyTotal {
  std::string name, version;
  std::int64_t models = 0, answered = 0, judged = 0;
  VerdictCounts verdicts{};       // of the values that were judged
  std::int64_t findings = 0;      // that are no refusals
  std::int64_t inconsistent = 0;  // models in which it is, with some other
};
void add_to_totals(const Comparison& comparison, std::vector<SurveyTotal>& totals);

// Whether a finding says that a backend computed something wrong, rather than nothing.
bool is_alarm(const ComparisonFinding& finding);

}  // namespace assay

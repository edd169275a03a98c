// Judge: every node on recorded inputs, its recorded outputs against its own rounding bound.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "base/result.h"
#include "compare/verdict.h"
#include "ops/operator.h"
#include "patterns/arithmetic.h"
#include "patterns/array.h"
#include "semantics/evaluator.h"

namespace assay {

struct Judgement {
  std::string layer, op, output;
  bool inside = false;
  double difference = 0;  // the largest from the reference
  double excess = 0;      // the largest difference as a multiple of its bound; above 1 is outside
  std::string detail;     // the worst element
  Verdict verdict = Verdict::precision;
  // Of one that is outside: the known other reading of the operator that explains it. Its bound
  // holds the recorded value, and it differs from the standard by more than both bounds.
  const Variant* variant = nullptr;
  std::string_view profile{};  // the known way to compute in another precision that explains it
  Node node{};                 // with the inputs that it was judged on, if it is outside
  std::vector<Value> inputs{};
};

using VerdictCounts = std::map<Verdict, std::int64_t>;
VerdictCounts count_verdicts(const std::vector<Judgement>& judgements);

// Judges each output that `recorded` has, in order of execution, by what `profile` says of whoever
// computed it (null: what every honest evaluation may do). Nodes whose results are not recorded are
// evaluated, and what follows is judged on that. `only` is as in EvaluateOptions.
Result<std::vector<Judgement>> judge(const Evaluator& evaluator, const std::vector<Value>& inputs,
                                     const std::map<std::string, Tensor>& recorded,
                                     std::uint64_t seed, const Arithmetic* profile = nullptr,
                                     const std::vector<bool>* only = nullptr);

// One output as read by Bounded against what was found: whether it is inside, by how much, where.
Judgement judge_output(const Value& bounded, const Tensor& found);

// What is known of a backend's functions, each line with its measurement; null if nothing is.
const Arithmetic* profile_of(const std::string& backend);
// The same by a backend's name or, where a user has named it, by its framework.
const Arithmetic* profile_of(const Backend& backend);

// What any of the backends may do.
Arithmetic joined_profile(const std::vector<std::unique_ptr<Backend>>& backends);
// The same by names alone; nullopt if there is one that does not say which framework it is.
std::optional<Arithmetic> joined_profile(const std::vector<std::string>& names);

}  // namespace assay

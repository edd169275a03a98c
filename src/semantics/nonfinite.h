// Which nodes of a run made NaN or infinity out of inputs that had none, and whether it shows.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "semantics/evaluator.h"

namespace assay {

struct NonFiniteCount {
  std::int64_t nan = 0, infinite = 0;
  bool any() const { return nan + infinite > 0; }
};
NonFiniteCount count_nonfinite(const Value& value);  // also inside sequences and optionals

// A node that made NaN or infinity out of finite inputs, or NaN out of infinities.
struct NonFiniteOrigin {
  std::string node;  // "loop/body/log"
  std::string op;
  std::string steps;    // "#3": the iteration in which it did so first
  NonFiniteCount made;  // elements, the first time
  std::int64_t times = 1;
  bool inputs_finite = true;
  bool reaches_output = false;  // through values that are not finite
};

// Watches a run: give `observe` to EvaluateOptions, and the outputs to `finish`.
class NonFiniteWatch {
 public:
  // Attributes and values that are given from outside are data, not results.
  void observe(const Evaluated& evaluated);
  // In order of execution.
  std::vector<NonFiniteOrigin> finish(const Graph& graph, const std::vector<Value>& outputs);

 private:
  using Origins = std::set<std::size_t>;

  Origins origins_of_inputs(const Evaluated& evaluated) const;
  void add_inner(const Evaluated& evaluated, Origins& origins) const;
  std::size_t note_origin(const Evaluated& evaluated, const NonFiniteCount& made, bool finite);

  std::vector<NonFiniteOrigin> found_;
  std::map<std::string, std::size_t> index_;  // by node
  std::map<std::string, Origins> values_;     // by name: where what is not finite comes from
};

}  // namespace assay

// Evaluator: the executable semantics. Runs a graph in one reading and shows every value on the way.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/value.h"
#include "semantics/plan.h"

namespace assay {

// One node that has just been evaluated.
struct Evaluated {
  const PlannedNode& node;
  std::string path;                 // "", or "loop/body/" with "#3" to be put behind names
  std::int64_t step;                // of the innermost iteration; -1 outside of one
  std::span<const Value> inputs;
  std::span<const Value> outputs;
  bool unknown;                     // nobody could evaluate it, or only the type's range is known
};

struct EvaluateOptions {
  Reading reading = Reading::value;
  std::uint64_t seed = 0;
  // Values recorded elsewhere, by name: they stand in for nodes that the catalogue does not know.
  const std::map<std::string, Tensor>* recorded = nullptr;
  std::function<void(const Evaluated&)> observe;
};

class Evaluator {
 public:
  // Looks up every operator; an undefined name or too deep a nesting is an Error of kind "invalid".
  static Result<std::unique_ptr<Evaluator>> make(std::shared_ptr<const Model> model);
  ~Evaluator();

  const Model& model() const { return *model_; }
  // Inputs by position, absent ones as Value(); an input that has an initialiser may be absent.
  Result<std::vector<Value>> run(std::span<const Value> inputs, const EvaluateOptions& options) const;
  const Plan& plan() const { return *plan_; }

 private:
  Evaluator() = default;
  std::shared_ptr<const Model> model_;
  std::unique_ptr<Plan> plan_;
};

// One node by itself, as the catalogue reads it. `rewrite` evaluates a variant's graph instead;
// `unknown` tells whether the answer is only the type's range.
Result<std::vector<Value>> evaluate_node(const Node& node, int opset, std::span<const Value> inputs,
                                         Reading reading, Composition rewrite = nullptr,
                                         std::uint64_t seed = 0, bool* unknown = nullptr);

}  // namespace assay

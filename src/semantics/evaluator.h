// Evaluator: the executable semantics. Runs a graph in one reading and shows every value on the
// way.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
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
  const std::string& path;   // "", or "loop/body/": what its names begin with
  const std::string& steps;  // "", or "#3": what they end with, iterations from the outermost
  std::span<const Value> inputs;
  std::span<const Value> outputs;
  bool unknown;  // nobody could evaluate it, or only the type's range is known

  std::string layer() const { return path + node.label(); }
  std::string name(std::size_t output) const { return path + node.node.outputs[output] + steps; }
};

struct EvaluateOptions {
  Reading reading = Reading::value;
  std::uint64_t seed = 0;
  bool redraw = false;  // seeds that nodes have of their own are not read
  // Values recorded elsewhere, by name ("x", "loop/body/x#3"): they stand in for nodes that the
  // catalogue does not know.
  const std::map<std::string, Tensor>* recorded = nullptr;
  // Recorded values take the place of every node's results once these have been observed, so that
  // each node is judged on the recorded inputs and errors do not pile up.
  bool impose = false;
  std::function<void(const Evaluated&)> observe{};
  // If given, by position in the model's graph: a node that is not among them is not evaluated; its
  // outputs are recorded ones, or unknown.
  const std::vector<bool>* only = nullptr;
  // Asked about the plain results of a node on exact inputs before its bounded reading: where they
  // suffice, they are its results.
  std::function<bool(const Evaluated&)> suffices{};
  // May put others in the place of a node's outputs, after they have been observed.
  std::function<void(const Evaluated&, std::span<Value> outputs)> replace{};
};

struct RunMemory;

class Evaluator {
 public:
  // Looks up every operator; an undefined name or too deep a nesting is an Error of kind "invalid".
  static Result<std::unique_ptr<Evaluator>> make(std::shared_ptr<const Model> model);
  // For a model that nobody else reads: its nodes move into the plan.
  static Result<std::unique_ptr<Evaluator>> make_taking(Model model);
  ~Evaluator();

  const Model& model() const { return *model_; }
  // Inputs by position, absent ones as Value(); an input that has an initialiser may be absent.
  // What is learned about nodes in one run makes the next one faster.
  Result<std::vector<Value>> run(std::span<const Value> inputs,
                                 const EvaluateOptions& options) const;
  const Plan& plan() const { return *plan_; }

 private:
  Evaluator();
  template <class MakePlan>
  static Result<std::unique_ptr<Evaluator>> make_with(std::shared_ptr<const Model> model,
                                                      MakePlan&& make_plan);
  std::shared_ptr<const Model> model_;
  std::unique_ptr<Plan> plan_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<RunMemory>> idle_;  // of runs that are over
};

// One node by itself, as the catalogue reads it. `rewrite` evaluates a variant's graph instead;
// `unknown` tells whether the answer is only the type's range.
Result<std::vector<Value>> evaluate_node(const Node& node, int opset, std::span<const Value> inputs,
                                         Reading reading, Composition rewrite = nullptr,
                                         std::uint64_t seed = 0, bool* unknown = nullptr);

// One node of a plan by itself.
Result<std::vector<Value>> evaluate_alone(const PlannedNode& node, std::span<const Value> inputs,
                                          const EvaluateOptions& options);
// The same; throws EvaluationError and MemoryLimitError.
std::vector<Value> evaluate_planned(const PlannedNode& node, std::span<const Value> inputs,
                                    const EvaluateOptions& options);

}  // namespace assay

// Run: one evaluation of a plan.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "semantics/evaluator.h"
#include "semantics/run_memory.h"

namespace assay {

class Run : public GraphEvaluator {
 public:
  Run(const EvaluateOptions& options, RunMemory& memory) : options_(options), memory_(&memory) {}

  // These throw EvaluationError and MemoryLimitError; where() then says at which node.
  std::vector<Value> run(const Plan& plan, std::span<const Value> inputs);
  std::vector<Value> run_single(const PlannedNode& node, std::span<const Value> inputs,
                                bool* unknown = nullptr);
  // The node by another reading of it.
  std::vector<Value> run_rewritten(const PlannedNode& node, Composition rewrite,
                                   std::span<const Value> inputs);
  const std::string& where() const { return failed_; }

  std::vector<Value> run_subgraph(const Call& caller, const Graph& body,
                                  std::span<const Value> inputs, std::int64_t step) override;
  std::vector<Value> run_function(const Call& caller, const Graph& body,
                                  std::span<const Value> inputs) override;
  Graph surroundings() const override;
  std::uint64_t seed(std::optional<std::uint64_t> own) const override {
    return own && !options_.redraw ? *own : options_.seed + node_count_;
  }

 private:
  // Values of the slots of a running plan, and of the scopes around it.
  struct Scope {
    std::vector<Value> slots;
    const Scope* outer = nullptr;
    const Plan* plan = nullptr;  // that runs in it

    const Value& at(const SlotRef& ref) const;
  };
  struct Running {
    const PlannedNode* node;
    const Scope* scope;
  };

  std::vector<Value> run_in(const Plan& plan, std::span<const Value> inputs, const Scope* outer);
  void run_node(const PlannedNode& node, Scope& scope);
  std::vector<Value>& take_inputs(const PlannedNode& node, Scope& scope);
  std::vector<Value> evaluate_here(const PlannedNode& node, const Scope& scope,
                                   std::span<const Value> inputs, bool* unknown);
  void pass_over(const PlannedNode& node, Scope& scope) const;
  static void store(const PlannedNode& node, std::vector<Value>& outputs, Scope& scope);
  void note_failure(const PlannedNode& node);
  std::vector<Value> evaluate(const PlannedNode& node, std::span<const Value> inputs,
                              bool* unknown);
  std::vector<Value> run_local_function(const PlannedNode& node, std::span<const Value> inputs);
  std::vector<Value> run_entry(const PlannedNode& node, std::span<const Value> inputs,
                               bool* unknown);
  std::vector<Value> perform(const PlannedNode& node, NodeMemory& memory,
                             std::span<const Value> inputs, bool* unknown);
  bool plain_suffices(const PlannedNode& node, Call& call);
  std::vector<Value> run_composed(const PlannedNode& node, NodeMemory& memory,
                                  std::span<const Value> inputs);
  std::vector<Value> run_silently(const Plan& plan, RunMemory& memory,
                                  std::span<const Value> inputs);
  std::vector<const Tensor*> find_recorded(const PlannedNode& node) const;
  void substitute_recorded(const PlannedNode& node, std::vector<Value>& outputs) const;

  const EvaluateOptions& options_;
  RunMemory* memory_;
  std::vector<Running> running_;  // from the outermost
  std::string path_, steps_;
  std::deque<std::vector<Value>> inputs_;  // of the running nodes, and room for those of others
  std::vector<std::vector<Known>> spare_;  // room for what is known of the inputs of a node
  std::string failed_;                     // the node at which an exception rose
  std::uint64_t node_count_ = 0;
  std::map<const Operator*, int> in_vain_;  // how often in a row plain results did not suffice
  int silent_ = 0;  // inside composed graphs, whose nodes are not the model's: nobody observes them
};

}  // namespace assay

// TypeWalk: inference node by node, over a graph that is there or one that grows.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/chunked.h"
#include "semantics/infer_types.h"
#include "semantics/plan.h"
#include "semantics/type_memory.h"

namespace assay {

struct TypeScope {
  const Plan& plan;
  std::string path;
  const TypeScope* outer = nullptr;
  std::vector<Known> slots{};
  std::vector<const ValueType*> declared{};    // by slot; null: nothing is said
  Chunked<NamedValueType>* growing = nullptr;  // instead of slots: values that are told at the end

  void set(std::size_t place, Known known) {
    if (growing)
      (*growing)[place].known = std::make_shared<const Known>(std::move(known));
    else
      slots[place] = std::move(known);
  }

  const Known& at(const SlotRef& ref) const {
    static const Known kAbsent;
    if (ref.slot < 0) return kAbsent;
    const TypeScope* scope = this;
    for (int i = 0; i < ref.depth; ++i) scope = scope->outer;
    const auto place = static_cast<std::size_t>(ref.slot);
    return scope->growing ? *(*scope->growing)[place].known : scope->slots[place];
  }
};

// What walking over one graph brings to light.
struct Log {
  Chunked<NamedValueType> values;
  std::vector<NodeRemarks> remarks;

  void append(Log&& other) {
    for (NamedValueType& value : other.values) values.push_back(std::move(value));
    std::move(other.remarks.begin(), other.remarks.end(), std::back_inserter(remarks));
  }
};

class TypeWalk : public SubgraphTypes {
 public:
  explicit TypeWalk(const TypeOptions& options) : options_(options) {}

  // `inputs` by position; those of which nothing is known count as what the graph declares.
  std::vector<Known> walk(const Plan& plan, std::span<const Known> inputs, const TypeScope* outer,
                          std::string path, Log& log);
  std::vector<ValueType> infer(const Graph& body, std::span<const ValueType> inputs) override;
  void define_outer(TypeScope& scope, int slot, Known known, Log& log);
  void judge(const PlannedNode& node, TypeScope& scope, Log& log);

 private:
  // A node whose entry is being asked, and what it asked of its bodies.
  struct Asking {
    const PlannedNode& node;
    const TypeScope& scope;
    std::map<const Plan*, Log> bodies{};
  };

  void enter(TypeScope& scope, std::span<const Known> inputs, Log& log);
  void define(TypeScope& scope, int slot, Known known, NodeRemarks& remarks, Log& log);
  std::vector<Known> outputs_of(const PlannedNode& node, const TypeScope& scope,
                                NodeRemarks& remarks, Log& log);
  std::vector<Known> function_outputs(const PlannedNode& node, std::span<const Known> inputs,
                                      const TypeScope& scope, Log& log);
  std::vector<Known> unknown_outputs(const PlannedNode& node, const Site& site,
                                     const TypeScope& scope, NodeRemarks& remarks, Log& log);
  std::vector<Known> ask_entry(const PlannedNode& node, const Site& site, const TypeScope& scope,
                               NodeRemarks& remarks, Log& log);
  void ask(const PlannedNode& node, const Site& site, std::vector<Known>& outputs);
  void walk_bodies(const PlannedNode& node, const TypeScope& scope,
                   std::map<const Plan*, Log> asked, Log& log);
  std::vector<Known> composed(const PlannedNode& node, const Site& site);

  const TypeOptions& options_;
  TypeMemory memory_;
  std::vector<Asking> asking_;
  std::size_t judged_ = 0;
  int functions_ = 0;  // of the file, around the node at hand
  int silent_ = 0;     // inside a composed operator, whose nodes are not the model's
};

Known known_constant(const Tensor& tensor);
NodeRemarks failed_inference(const EvaluationError& failure);

}  // namespace assay

// RunMemory: what earlier evaluations of a plan's nodes have found out and the next ones need not:
// that the node is legal, the types of its outputs, the graph that it stands for.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ops/infer.h"
#include "semantics/plan.h"

namespace assay {

struct RunMemory;

// Holds for inputs of the same types, shapes and exactness, and of the same elements where those
// were asked for.
struct NodeMemory {
  struct Input {
    bool present = false;
    bool exact = true;
    ElementType type{};
    Shape shape;
    Tensor elements;  // undefined: nobody asked for them
  };

  explicit NodeMemory(const PlannedNode& node)
      : site(node.node, node.found.schema->since_version) {}

  Site site;
  Reading reading{};
  std::vector<Input> inputs;
  bool lasting = false;                  // it will be kept, and so is worth more to fill
  bool proven = false;                   // it is as the standard's table demands
  std::vector<ValueType> types;          // of the outputs
  std::shared_ptr<void> kept;            // what the meaning itself remembers
  std::shared_ptr<const Plan> composed;  // of an operator that is a graph of others
  std::unique_ptr<RunMemory> inner;      // of the composed plan
};

struct RunMemory {
  RunMemory() = default;  // remembers nothing
  explicit RunMemory(const Plan& plan)
      : nodes(plan.node_count), seen(plan.node_count), slots(plan.plan_count) {}

  // For a plan that will be run again: its nodes are remembered from the first time on.
  void expect_more() { seen.assign(seen.size(), 1); }
  // For a plan that has run and will do so only on inputs of the same types and shapes: whether
  // these alone decide all that is remembered, so that nobody needs to ask again.
  void settle(const Plan& plan);

  std::vector<std::unique_ptr<NodeMemory>> nodes;  // by id
  std::vector<char> seen;                          // by id; a node is remembered the second time
  std::vector<std::vector<Value>> slots;           // by plan: initialisers in place, else empty
  bool settled = false;
  bool proven = false;  // the plan has run before on inputs of these types: its nodes are as the
                        // standard's table demands, whatever their shapes
};

// Whether what is remembered holds for these inputs.
bool holds_for(const NodeMemory& memory, Reading reading, std::span<const Value> inputs);

// Fills in the inputs, after `memory.site` has been asked all that it will be; false if the answers
// cannot be kept, since they depend on values that are too many or no tensors.
bool keep_inputs(NodeMemory& memory, Reading reading, std::span<const Value> inputs);

}  // namespace assay

// GrowingPlan: a plan for types of a graph that is still being written.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "semantics/plan.h"

namespace assay {

// For graphs whose next node depends on what is known of those before it.
class GrowingPlan {
 public:
  explicit GrowingPlan(const Imports& imports);
  ~GrowingPlan();
  GrowingPlan(const GrowingPlan&) = delete;
  GrowingPlan& operator=(const GrowingPlan&) = delete;

  const Plan& plan() const { return plan_; }  // only its nodes and the names of its slots
  int slot(const std::string& name) const;    // -1: no value has the name
  void reserve(std::size_t nodes) { plan_.nodes.reserve(nodes); }
  int define(const std::string& name);
  // These give the node as it is planned, until the next one is added.
  const PlannedNode& add(const Node& node);
  // The same for one without graphs inside that differs from a node before in nothing but its
  // names: what was found for that one, whether it left nothing out, and the slots of the inputs.
  const PlannedNode& add_alike(const Node& node, const Lookup& found, bool whole,
                               std::span<const int> inputs);
  std::vector<bool> read() const;  // by slot, whether any node reads it, itself or in its graphs
  // The plan of the whole graph, with the same slots; null if its nodes are not all there, or no
  // longer where they were when they were added. `names` are left to the caller but for those of
  // inputs and initialisers.
  std::shared_ptr<Plan> take(const Graph& graph, std::vector<std::string>& names);

 private:
  struct Parts;
  PlannedNode& append(const Node& node, PlannedNode planned);

  Plan plan_;
  const Node* first_ = nullptr;  // of the graph
  std::unique_ptr<Parts> parts_;
};

}  // namespace assay

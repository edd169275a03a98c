// GrowingPlan: a plan for types of a graph that is still being written.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "semantics/plan.h"

namespace assay {

// For graphs whose next node depends on what is known of those before it. Nodes are not kept.
class GrowingPlan {
 public:
  explicit GrowingPlan(const Imports& imports);
  ~GrowingPlan();
  GrowingPlan(const GrowingPlan&) = delete;
  GrowingPlan& operator=(const GrowingPlan&) = delete;

  const Plan& plan() const { return plan_; }  // only the names of its slots
  std::vector<std::string> take_names() { return std::move(plan_.names); }  // at the end
  int slot(const std::string& name) const;  // -1: no value has the name
  int define(const std::string& name);
  PlannedNode add(const Node& node);

 private:
  struct Parts;
  Plan plan_;
  std::size_t count_ = 0;  // of nodes
  std::unique_ptr<Parts> parts_;
};

}  // namespace assay

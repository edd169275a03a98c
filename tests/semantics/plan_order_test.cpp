// Names that a plan finds right are right, and all others are left to the full check.
#include "semantics/plan_order.h"

#include <gtest/gtest.h>

#include "graph/order.h"
#include "semantics/models.h"

namespace assay {
namespace {

Model right() {
  return model({node("Add", {"x", "w"}, {"a"}, {attribute("one", 1), attribute("two", 2)}),
                node("Clip", {"a", "", "w"}, {"b"}), node("Dropout", {"b"}, {"c", ""})},
               {f32("x", {1})}, {untyped("c"), untyped("a")}, {reals("w", {1})});
}

bool in_order(const Model& m) {
  return is_in_order(m, *make_plan(m.graph, {&m.opsets, nullptr, true}));
}

TEST(PlanOrder, RightNamesAreInOrder) {
  EXPECT_TRUE(in_order(right()));
  Model with_default = right();  // an initialiser may be an input's default
  with_default.graph.inputs.push_back(f32("w", {1}));
  EXPECT_TRUE(in_order(with_default));
  EXPECT_TRUE(check_structure(with_default).empty());
}

TEST(PlanOrder, WhatTheFullCheckObjectsToIsNot) {
  const std::vector<void (*)(Model&)> wrong = {
      [](Model& m) { m.graph.nodes[1].inputs[0] = "c"; },
      [](Model& m) { m.graph.nodes[1].inputs[0] = "nowhere"; },
      [](Model& m) { std::swap(m.graph.nodes[0], m.graph.nodes[1]); },
      [](Model& m) { m.graph.nodes[1].outputs[0] = "a"; },
      [](Model& m) { m.graph.nodes[1].outputs[0] = "x"; },
      [](Model& m) { m.graph.nodes[2].outputs[1] = "c"; },
      [](Model& m) { m.graph.nodes[0].op = ""; },
      [](Model& m) { m.graph.nodes[0].domain = "elsewhere"; },
      [](Model& m) { m.graph.nodes[0].attributes[1].name = "one"; },
      [](Model& m) { m.graph.inputs.push_back(f32("x", {1})); },
      [](Model& m) { m.graph.inputs.push_back(f32("", {1})); },
      [](Model& m) { m.graph.initializers.push_back(reals("w", {2})); },
      [](Model& m) { m.graph.initializers.push_back(reals("", {2})); },
      [](Model& m) { m.graph.outputs.push_back(untyped("nowhere")); },
      [](Model& m) { m.graph.outputs.push_back(untyped("")); }};
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    Model m = right();
    wrong[i](m);
    EXPECT_FALSE(check_structure(m).empty()) << i;
    EXPECT_FALSE(in_order(m)) << i;
  }
}

TEST(PlanOrder, GraphsAndFunctionsAreLeftToTheFullCheck) {
  Model inside = right();
  inside.graph.inputs.push_back(boolean("c0"));
  inside.graph.nodes.push_back(branch({"d"}, graph({}, {}, {untyped("a")}), graph({}, {}, {})));
  inside.graph.nodes.back().inputs = {"c0"};
  EXPECT_FALSE(in_order(inside));
  Model function = right();
  function.functions.emplace_back();
  EXPECT_FALSE(in_order(function));
}

}  // namespace
}  // namespace assay

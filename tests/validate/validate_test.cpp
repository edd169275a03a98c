#include "validate/validate.h"

#include <gtest/gtest.h>

#include "semantics/models.h"

namespace assay {
namespace {

std::vector<std::string> layers(const ValidationResult& result) {
  std::vector<std::string> names;
  for (const Finding& finding : result.findings) names.push_back(finding.layer);
  return names;
}

TEST(Validate, FindsNothingInARightModel) {
  const ValidationResult result =
      validate(model({node("Relu", {"x"}, {"y"})}, {f32("x", {2})}, {f32("y", {2})}));
  EXPECT_TRUE(result.valid());
  EXPECT_TRUE(result.undecided.empty());
  EXPECT_TRUE(result.unknown.empty());
}

TEST(Validate, LinesUpFindingsInOrderOfExecution) {
  const auto yes = graph({node("Relu", {"nowhere"}, {"t"})}, {}, {untyped("t")});
  const auto no =
      graph({node("Softmax", {"x"}, {"e"}, {attribute("axis", 3)})}, {}, {untyped("e")});
  const ValidationResult result = validate(
      model({node("Softmax", {"x"}, {"a"}, {attribute("axis", 2)}), branch({"y"}, yes, no),
             node("Add", {"x", "lost"}, {"z"}),
             node("Transpose", {"x"}, {"w"}, {attribute("perm", std::vector<std::int64_t>{1})})},
            {boolean("c"), f32("x", {2})}, {untyped("y"), untyped("gone")}));
  EXPECT_EQ(layers(result),
            (std::vector<std::string>{"make_a", "make_y/then_branch/make_t",
                                      "make_y/else_branch/make_e", "make_z", "make_w", ""}));
}

TEST(Validate, SaysEverythingAboutAFinding) {
  const ValidationResult result = validate(model(
      {node("Softmax", {"x"}, {"y"}, {attribute("axis", 4)})}, {f32("x", {2})}, {untyped("y")}));
  ASSERT_EQ(result.findings.size(), 1);
  const Finding& finding = result.findings[0];
  EXPECT_EQ(finding.operator_name, "Softmax");
  EXPECT_EQ(finding.kind, "Argument Error");
  EXPECT_EQ(finding.rule, "Softmax.axis-range");
  EXPECT_FALSE(finding.expected.empty());
  EXPECT_EQ(finding.found, "4");
  EXPECT_GT(finding.badness, 0);
  EXPECT_FALSE(finding.message.empty());
}

TEST(Validate, KnowsTheOperatorSets) {
  Model m = model({node("Gelu", {"x"}, {"y"})}, {f32("x", {2})}, {untyped("y")});
  m.opsets[""] = 13;
  ASSERT_EQ(validate(m).findings.size(), 1);
  EXPECT_EQ(validate(m).findings[0].rule, "Graph.operator-version");
  m.opsets[""] = 1000;
  EXPECT_EQ(validate(m).findings.at(0).rule, "Graph.opset-version");
  m.opsets[""] = 20;
  EXPECT_TRUE(validate(m).valid());
  m.opsets.clear();
  EXPECT_EQ(validate(m).findings.at(0).rule, "Graph.opset");
}

TEST(Validate, AFunctionOfTheFileBeatsTheVersion) {
  Model m = model({node("Gelu", {"x"}, {"y"})}, {f32("x", {2})}, {untyped("y")});
  m.opsets[""] = 13;
  Function function;
  function.name = "Gelu";
  function.inputs = {"a"};
  function.outputs = {"b"};
  function.nodes = {node("Relu", {"a"}, {"b"})};
  function.opsets = {{"", 13}};
  m.functions = {function};
  EXPECT_TRUE(validate(m).valid());
}

TEST(Validate, UnknownOperatorsAreNotes) {
  Model m = model({node("Mystery", {"x"}, {"a"}), node("Relu", {"a"}, {"y"})}, {f32("x", {2})},
                  {untyped("y")});
  m.graph.nodes[0].domain = "own";
  m.opsets["own"] = 3;
  const ValidationResult result = validate(m);
  EXPECT_TRUE(result.valid());
  ASSERT_EQ(result.unknown.size(), 1);
  EXPECT_EQ(result.unknown[0].operator_name, "Mystery");
}

TEST(Validate, RefusesAFunctionThatCallsItself) {
  Model m = model({node("Again", {"x"}, {"y"})}, {f32("x", {2})}, {untyped("y")});
  m.graph.nodes[0].domain = "own";
  m.opsets["own"] = 1;
  Function function;
  function.domain = "own";
  function.name = "Again";
  function.inputs = {"a"};
  function.outputs = {"b"};
  function.nodes = {node("Again", {"a"}, {"b"})};
  function.nodes[0].domain = "own";
  function.opsets = {{"own", 1}};
  m.functions = {function};
  const ValidationResult result = validate(m);
  ASSERT_FALSE(result.valid());
  EXPECT_EQ(result.findings[0].rule, "Graph.recursion");
}

}  // namespace
}  // namespace assay

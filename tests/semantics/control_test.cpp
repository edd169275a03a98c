// Readings of nodes that run graphs of their own, and the gradient of a graph.
#include <gtest/gtest.h>

#include "formats/text_case.h"
#include "graph/make_node.h"
#include "patterns/array.h"
#include "semantics/evaluator.h"

namespace assay {
namespace {

// The node of the one case in the text.
Node node_of(const std::string& text) {
  const auto cases = parse_cases(text, "test");
  EXPECT_TRUE(cases) << (cases ? "" : cases.error().message);
  return cases->front().node;
}

Value range(ElementType type, double low, double high) {
  return Value::ranges(type, {}, {Interval{low, high, false}});
}

Value scalar(ElementType type, double value) { return make_scalar(type, value); }

std::vector<Value> evaluate(const Node& node, const std::vector<Value>& inputs, Reading reading,
                            bool* unknown) {
  const auto result = evaluate_node(node, 25, inputs, reading, nullptr, 0, unknown);
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return result ? *result : std::vector<Value>();
}

const char* const kBranches = R"(
case branches
graph yes() -> (y f32[2]) {
  a = f32[2]={1 5}
  y = Identity(a)
}
graph no() -> (y f32[2]) {
  b = f32[2]={3 4}
  y = Identity(b)
}
node If then_branch=@yes else_branch=@no
in   cond bool = true
out  y f32[2] = 1 5
)";

TEST(If, TakesTheHullWhereTheConditionIsNotDecided) {
  bool unknown = true;
  const auto results = evaluate(node_of(kBranches), {range(ElementType::boolean, 0, 1)},
                                Reading::interval, &unknown);
  EXPECT_FALSE(unknown);
  const auto y = load<Interval>(results.at(0)).data;
  EXPECT_EQ(y[0].low, 1);
  EXPECT_EQ(y[0].high, 3);
  EXPECT_EQ(y[1].low, 4);
  EXPECT_EQ(y[1].high, 5);
}

TEST(If, KeepsTheChosenValueInsideABoundOverBothBranches) {
  bool unknown = true;
  const Value unsure = Value::bounded(scalar(ElementType::boolean, 0).tensor(), {1.0});
  const auto results = evaluate(node_of(kBranches), {unsure}, Reading::bounded, &unknown);
  EXPECT_FALSE(unknown);
  const auto y = load<Bounded>(results.at(0)).data;
  EXPECT_EQ(y[0].value, 3);
  EXPECT_TRUE(y[0].contains(1));
  EXPECT_LT(y[0].error, 2.001);
}

TEST(If, DecidesWhereTheRangeIsAPoint) {
  bool unknown = true;
  const auto results = evaluate(node_of(kBranches), {range(ElementType::boolean, 1, 1)},
                                Reading::interval, &unknown);
  EXPECT_EQ(load<Interval>(results.at(0)).data[0].high, 1);
}

TEST(If, AnswersUnknownWhereTheBranchesHaveDifferentShapes) {
  const Node node = node_of(R"(
case branches
graph yes() -> (y f32[2]) {
  a = f32[2]={1 5}
  y = Identity(a)
}
graph no() -> (y f32[1]) {
  b = f32[1]={3}
  y = Identity(b)
}
node If then_branch=@yes else_branch=@no
in   cond bool = true
out  y f32[2] = 1 5
)");
  bool unknown = false;
  const auto results =
      evaluate(node, {range(ElementType::boolean, 0, 1)}, Reading::interval, &unknown);
  EXPECT_TRUE(unknown);
  EXPECT_EQ(results.at(0).kind(), Value::Kind::unknown);
}

const char* const kHalving = R"(
case halving
graph body(i i64, c bool, x f32) -> (go bool, y f32) {
  half = f32={0.5}
  one = f32={1}
  y = Mul(x, half)
  go = Greater(y, one)
}
node Loop body=@body
in   M i64 = 4
in   cond bool = true
in   x f32 = 8
out  y f32 = 1
)";

TEST(Loop, AnswersUnknownWhereARangeDecidesHowOftenItRuns) {
  bool unknown = false;
  evaluate(
      node_of(kHalving),
      {scalar(ElementType::i64, 4), scalar(ElementType::boolean, 1), range(ElementType::f32, 3, 9)},
      Reading::interval, &unknown);
  EXPECT_TRUE(unknown);
}

TEST(Loop, RunsOnRangesWhereTheNumberOfIterationsIsSure) {
  bool unknown = true;
  const auto results = evaluate(node_of(kHalving),
                                {scalar(ElementType::i64, 4), scalar(ElementType::boolean, 1),
                                 range(ElementType::f32, 9, 12)},
                                Reading::interval, &unknown);
  EXPECT_FALSE(unknown);
  const Interval y = load<Interval>(results.at(0)).data[0];
  EXPECT_TRUE(y.contains(9 / 16.0) && y.contains(12 / 16.0));
  EXPECT_LT(y.high, 0.76);
}

// y from a and b by the nodes, then its gradient by both.
Result<std::vector<Value>> gradient(std::vector<Node> nodes, const std::vector<Value>& inputs) {
  auto model = std::make_shared<Model>();
  model->opsets = {{"", 25}, {"ai.onnx.preview.training", 1}};
  model->graph.inputs = {{"a", {}, {}, {}}, {"b", {}, {}, {}}};
  model->graph.initializers.push_back({"c", make_scalar(ElementType::f32, 3), {}, {}});
  model->graph.nodes = std::move(nodes);
  Node node = make_node("Gradient", {"a", "b"}, {"da"});
  node.domain = "ai.onnx.preview.training";
  node.outputs.push_back("db");
  node.attributes = {attribute("xs", std::vector<std::string>{"a", "b"}), attribute("y", "y")};
  model->graph.nodes.push_back(std::move(node));
  model->graph.outputs = {{"da", {}, {}, {}}, {"db", {}, {}, {}}};
  const auto evaluator = Evaluator::make(model);
  if (!evaluator) return evaluator.error();
  return (*evaluator)->run(inputs, {});
}

TEST(Gradient, AddsUpOverAllUsesAndBroadcasts) {
  // y = (a + b) a + c, with a of two elements and b of one: dy/da = 2a + b, dy/db = sum of a.
  const std::vector<double> a = {1, 2};
  const auto results =
      gradient({make_node("Add", {"a", "b"}, {"s"}), make_node("Mul", {"s", "a"}, {"p"}),
                make_node("Add", {"p", "c"}, {"y"})},
               {make_tensor(ElementType::f32, {2}, a), scalar(ElementType::f32, 5)});
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_EQ((*results)[0].tensor().reals(), (std::vector<double>{7, 9}));
  EXPECT_EQ((*results)[1].tensor().reals(), (std::vector<double>{3}));
}

TEST(Gradient, NamesTheOperatorWithoutAnAdjoint) {
  const auto results = gradient(
      {make_node("Hardmax", {"a"}, {"h"}), make_node("Add", {"h", "b"}, {"y"})},
      {make_tensor(ElementType::f32, {1}, std::vector<double>{1}), scalar(ElementType::f32, 5)});
  ASSERT_FALSE(results);
  EXPECT_NE(results.error().message.find("Hardmax has no adjoint"), std::string::npos)
      << results.error().message;
  EXPECT_NE(results.error().message.find("Gradient.no-adjoint"), std::string::npos);
}

TEST(Gradient, NeedsEveryVariable) {
  const auto results = gradient({make_node("Add", {"a", "missing"}, {"y"})},
                                {scalar(ElementType::f32, 1), scalar(ElementType::f32, 5)});
  EXPECT_FALSE(results);
}

}  // namespace
}  // namespace assay

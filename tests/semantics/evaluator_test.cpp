#include "semantics/evaluator.h"

#include <gtest/gtest.h>

#include "semantics/models.h"

namespace assay {
namespace {

Value vector(std::vector<double> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return make_tensor(ElementType::f32, {count}, values);
}

std::unique_ptr<Evaluator> evaluator(Model m) {
  auto result = Evaluator::make(std::make_shared<const Model>(std::move(m)));
  EXPECT_TRUE(result.has_value());
  return *std::move(result);
}

std::vector<double> only(const Result<std::vector<Value>>& outputs) {
  EXPECT_TRUE(outputs.has_value()) << (outputs ? "" : outputs.error().message);
  return outputs ? outputs->at(0).tensor().reals() : std::vector<double>{};
}

// The sum of 0 + 1 + … by a loop that also collects each step.
Model loop_model() {
  const auto body = graph(
      {node("Cast", {"i"}, {"step"}, {attribute("to", 1)}), node("Add", {"sum", "step"}, {"next"}),
       node("Identity", {"go"}, {"go_on"}), node("Identity", {"next"}, {"seen"})},
      {i64("i", {}), boolean("go"), untyped("sum")},
      {boolean("go_on"), untyped("next"), untyped("seen")});
  return model({node("Loop", {"n", "", "start"}, {"total", "all"}, {{"body", body}})},
               {f32("start", {1})}, {untyped("total"), untyped("all")}, {integer("n", 4)});
}

TEST(Evaluator, NamesValuesInsideLoops) {
  std::vector<std::string> names;
  EvaluateOptions options;
  options.observe = [&](const Evaluated& evaluated) {
    for (std::size_t i = 0; i < evaluated.outputs.size(); ++i) names.push_back(evaluated.name(i));
  };
  const auto e = evaluator(loop_model());
  EXPECT_EQ(only(e->run(std::vector<Value>{vector({0})}, options)), std::vector<double>{6});
  EXPECT_EQ(names.size(), 4 * 4 + 2);
  EXPECT_EQ(names.at(1), "make_total/body/next#0");
  EXPECT_EQ(names.at(13), "make_total/body/next#3");
  EXPECT_EQ(names.back(), "all");
}

TEST(Evaluator, TakesTheNodesOfAModelThatItOwns) {
  const auto taken = Evaluator::make_taking(loop_model());
  ASSERT_TRUE(taken.has_value());
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(only((*taken)->run(std::vector<Value>{vector({0})}, {})), std::vector<double>{6});
  }
  Model broken = model({node("Relu", {"nowhere"}, {"y"})}, {}, {untyped("y")});
  const auto refused = Evaluator::make_taking(std::move(broken));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, "invalid");
}

// What is remembered of a node must not outlive a change of its inputs.
TEST(Evaluator, RemembersOnlyWhatStillHolds) {
  const auto e = evaluator(model({node("Reshape", {"x", "to"}, {"r"}), node("Relu", {"r"}, {"y"})},
                                 {untyped("x"), untyped("to")}, {untyped("y")}));
  const auto shape_for = [&](Value x, std::vector<std::int64_t> to) {
    const auto outputs = e->run(std::vector<Value>{std::move(x), make_vector(to)}, {});
    return outputs ? outputs->at(0).shape() : Shape{-1};
  };
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(shape_for(vector({1, 2, 3, 4}), {2, 2}), (Shape{2, 2}));
    EXPECT_EQ(shape_for(vector({1, 2, 3, 4}), {2, 2}), (Shape{2, 2}));
    EXPECT_EQ(shape_for(vector({1, 2, 3, 4}), {4, 1}), (Shape{4, 1}));
    EXPECT_EQ(shape_for(vector({1, 2, 3, 4}), {3, 1}), (Shape{-1}));
    EXPECT_EQ(shape_for(vector({1, 2}), {2, 1}), (Shape{2, 1}));
    const std::int64_t two[] = {7, 8};
    EXPECT_EQ(shape_for(make_integers(ElementType::i64, {2}, two), {1, 2}), (Shape{1, 2}));
  }
}

TEST(Evaluator, GivesTheSameInEveryReadingOfOneEvaluator) {
  const auto e = evaluator(model({node("Softmax", {"x"}, {"y"})}, {f32("x", {3})}, {untyped("y")}));
  const std::vector<Value> inputs = {vector({1, 2, 3})};
  EvaluateOptions bounded;
  bounded.reading = Reading::bounded;
  const std::vector<double> first = only(e->run(inputs, {}));
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(only(e->run(inputs, {})), first);
    const auto wide = e->run(inputs, bounded);
    ASSERT_TRUE(wide.has_value());
    EXPECT_NE(wide->at(0).errors(), nullptr);
  }
}

TEST(Evaluator, AnInputMayStandInForAnInitializer) {
  Model m = model({node("Add", {"x", "w"}, {"y"})}, {f32("x", {1}), f32("w", {1})}, {untyped("y")},
                  {reals("w", {10})});
  const auto e = evaluator(std::move(m));
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(only(e->run(std::vector<Value>{vector({1}), Value()}, {})), std::vector<double>{11});
    EXPECT_EQ(only(e->run(std::vector<Value>{vector({1}), vector({2})}, {})),
              std::vector<double>{3});
  }
}

TEST(Evaluator, LeavesTheCallersValuesAlone) {
  const auto e = evaluator(model({node("Identity", {"x"}, {"a"}), node("Relu", {"a"}, {"y"})},
                                 {f32("x", {2})}, {untyped("y")}));
  const std::vector<Value> inputs = {vector({-1, 1})};
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(only(e->run(inputs, {})), (std::vector<double>{0, 1}));
    EXPECT_EQ(inputs[0].tensor().reals(), (std::vector<double>{-1, 1}));
  }
}

TEST(Evaluator, NamesTheNodeThatFails) {
  const auto yes = graph({node("Gather", {"x", "i"}, {"t"})}, {}, {untyped("t")});
  const auto no = graph({node("Relu", {"x"}, {"e"})}, {}, {untyped("e")});
  const auto e = evaluator(model({branch({"y"}, yes, no)},
                                 {boolean("c"), f32("x", {2}), i64("i", {1})}, {untyped("y")}));
  const std::int64_t far[] = {9};
  const auto outputs = e->run(
      std::vector<Value>{make_scalar(ElementType::boolean, 1), vector({1, 2}), make_vector(far)},
      {});
  ASSERT_FALSE(outputs.has_value());
  EXPECT_EQ(outputs.error().kind, "invalid");
  EXPECT_EQ(outputs.error().where, "make_y/then_branch/make_t");
}

TEST(Evaluator, UnknownNodesDoNotStopTheRest) {
  Model m =
      model({node("Mystery", {"x"}, {"a"}), node("Relu", {"a"}, {"b"}), node("Neg", {"x"}, {"c"})},
            {f32("x", {1})}, {untyped("b"), untyped("c")});
  const auto e = evaluator(std::move(m));
  const std::vector<Value> inputs = {vector({2})};
  const auto blind = e->run(inputs, {});
  ASSERT_TRUE(blind.has_value());
  EXPECT_EQ(blind->at(0).kind(), Value::Kind::unknown);
  EXPECT_EQ(blind->at(1).tensor().reals(), std::vector<double>{-2});
  const std::map<std::string, Tensor> recorded = {{"a", vector({-5}).tensor()}};
  EvaluateOptions options;
  options.recorded = &recorded;
  EXPECT_EQ(only(e->run(inputs, options)), std::vector<double>{0});
}

TEST(Plan, RefusesWhatUnfoldsWithoutEnd) {
  Model m = model({node("F39", {"x"}, {"y"})}, {f32("x", {1})}, {untyped("y")});
  m.graph.nodes[0].domain = "own";
  for (int i = 0; i < 40; ++i) {
    Function function;
    function.domain = "own";
    function.name = "F" + std::to_string(i);
    function.inputs = {"a"};
    function.outputs = {"b"};
    function.attributes = {"k"};  // so that no plan is shared
    const std::string inner = i == 0 ? "Relu" : "F" + std::to_string(i - 1);
    function.nodes = {node(inner, {"a"}, {"t"}), node(inner, {"t"}, {"b"})};
    for (Node& call : function.nodes) call.domain = i == 0 ? "" : "own";
    function.opsets = {{"", 21}, {"own", 1}};
    m.functions.push_back(std::move(function));
  }
  const auto made = Evaluator::make(std::make_shared<const Model>(std::move(m)));
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().kind, "invalid");
}

}  // namespace
}  // namespace assay

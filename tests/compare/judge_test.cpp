#include "compare/judge.h"

#include <cmath>

#include <gtest/gtest.h>

#include "compare/model_parts.h"
#include "compare/spread.h"
#include "compare/turned.h"

namespace assay {
namespace {

Judgement judge_node(Node node, const std::vector<Value>& inputs, const Tensor& found,
                     const Arithmetic* arithmetic = nullptr) {
  const auto evaluator = make_evaluator({std::move(node)}, inputs);
  const std::map<std::string, Tensor> recorded = {{"Y", found}};
  const auto judged = judge(*evaluator, inputs, recorded, 1, arithmetic);
  EXPECT_TRUE(judged);
  EXPECT_EQ(judged->size(), 1U);
  return judged->front();
}

Tensor floats(const std::vector<double>& values) {
  return make_tensor(ElementType::f32, {static_cast<std::int64_t>(values.size())}, values);
}

// What a node makes of 3 · x, whose rounding nobody recorded.
Judgement judge_after_product(const Node& decision, const std::vector<double>& x,
                              const Tensor& found) {
  const std::vector<Value> inputs = {floats(x), floats({3, 3})};
  const auto evaluator = make_evaluator({make_node("Mul", {"X0", "X1"}, {"P"}), decision}, inputs);
  const auto judged = judge(*evaluator, inputs, {{"Y", found}}, 1);
  EXPECT_TRUE(judged);
  EXPECT_EQ(judged->size(), 1U);
  return judged->front();
}

TEST(Judge, ExactIsPrecision) {
  const Judgement one = judge_node(make_node("Add", {"X0", "X1"}, {"Y"}),
                                   {floats({1, 2}), floats({3, 4})}, floats({4, 6}));
  EXPECT_EQ(one.verdict, Verdict::precision);
}

TEST(Judge, OutsideIsADefect) {
  const Judgement one = judge_node(make_node("Add", {"X0", "X1"}, {"Y"}),
                                   {floats({1, 2}), floats({3, 4})}, floats({4, 6.1}));
  EXPECT_EQ(one.verdict, Verdict::defect);
  EXPECT_FALSE(one.inside);
}

// 3 · 0.1666… is 0.5 up to rounding, which goes to 0 or to 1.
constexpr double kSixth = 0.16666667163372040;

TEST(Judge, AStepThatRoundingTurnsIsATie) {
  const Node round = make_node("Round", {"P"}, {"Y"});
  const Judgement tie = judge_after_product(round, {kSixth, 0.5}, floats({1, 2}));
  EXPECT_EQ(tie.verdict, Verdict::tie);
  EXPECT_TRUE(tie.inside);
  EXPECT_EQ(judge_after_product(round, {kSixth, 0.5}, floats({0, 2})).verdict, Verdict::precision);
  EXPECT_EQ(judge_after_product(round, {0.3, 0.5}, floats({2, 2})).verdict, Verdict::defect);
}

TEST(Judge, ContinuousBranchesAreNoDecision) {
  const Judgement one =
      judge_after_product(make_node("Relu", {"P"}, {"Y"}), {-1e-30, 0.5}, floats({0, 1.5}));
  EXPECT_EQ(one.verdict, Verdict::precision);
}

Tensor integers(ElementType type, const std::vector<std::int64_t>& values) {
  return make_integers(type, {static_cast<std::int64_t>(values.size())}, values);
}

TEST(Judge, AnIndexThatRoundingTurnsIsATie) {
  const Node largest = make_node("ArgMax", {"P"}, {"Y"});
  const auto verdict = [&](double x) {
    return judge_after_product(largest, {x, 0.10000001}, integers(ElementType::i64, {1})).verdict;
  };
  EXPECT_EQ(verdict(0.1), Verdict::tie);
  EXPECT_EQ(verdict(0.11), Verdict::defect);
  EXPECT_EQ(verdict(0.09), Verdict::precision);
}

TEST(Judge, ATopKThatRoundingTurnsIsATie) {
  Node top = make_node("TopK", {"P", "X2"}, {"V"});
  top.outputs = {"V", "Y"};
  const std::vector<Value> inputs = {floats({0.1, 0.10000001}), floats({3, 3}),
                                     integers(ElementType::i64, {1})};
  const auto evaluator = make_evaluator({make_node("Mul", {"X0", "X1"}, {"P"}), top}, inputs);
  const auto judged = judge(*evaluator, inputs, {{"Y", integers(ElementType::i64, {1})}}, 1);
  ASSERT_TRUE(judged);
  EXPECT_EQ(judged->front().verdict, Verdict::tie);
}

TEST(Judge, ACastThatRoundingTurnsIsATie) {
  Node cast = make_node("Cast", {"P"}, {"Y"});
  cast.attributes.push_back(attribute("to", 7));
  const auto verdict = [&](double x) {
    return judge_after_product(cast, {x, 0.5}, integers(ElementType::i64, {0, 1})).verdict;
  };
  EXPECT_EQ(verdict(0.33333334), Verdict::tie);  // 1, or a little less
  EXPECT_EQ(verdict(0.4), Verdict::defect);
}

TEST(Judge, AConditionThatRoundingTurnsIsATie) {
  const std::vector<Value> inputs = {floats({kSixth, 0.1}), floats({3, 3}), floats({0.5, 0.5})};
  const std::vector<Node> nodes = {make_node("Mul", {"X0", "X1"}, {"P"}),
                                   make_node("Less", {"P", "X2"}, {"C"}),
                                   make_node("Where", {"C", "X1", "X0"}, {"Y"})};
  const auto evaluator = make_evaluator(nodes, inputs);
  const auto judged =
      judge(*evaluator, inputs,
            {{"C", integers(ElementType::boolean, {1, 1})}, {"Y", floats({3, 3})}}, 1);
  ASSERT_TRUE(judged);
  ASSERT_EQ(judged->size(), 2U);
  EXPECT_EQ((*judged)[0].verdict, Verdict::tie);
  EXPECT_EQ((*judged)[1].verdict, Verdict::precision);  // on the condition that was recorded
}

TEST(Judge, BetweenTypicalAndWorstIsSuspicious) {
  constexpr std::int64_t kTerms = 10000;
  const Tensor ones = make_tensor(ElementType::f32, {kTerms}, std::vector<double>(kTerms, 1.1));
  Node sum = make_node("ReduceSum", {"X0"}, {"Y"});
  sum.attributes.push_back(attribute("keepdims", 0));
  const double exact = 1.10000002384185791 * kTerms;
  const auto verdict = [&](double off) {
    return judge_node(sum, {ones}, make_tensor(ElementType::f32, {}, {{exact * (1 + off)}}))
        .verdict;
  };
  EXPECT_EQ(verdict(0), Verdict::precision);
  EXPECT_EQ(verdict(5e-6), Verdict::precision);   // √n · u = 6e-6
  EXPECT_EQ(verdict(1e-4), Verdict::suspicious);  // n · u = 6e-4
  EXPECT_EQ(verdict(2e-3), Verdict::defect);
}

TEST(Judge, SubnormalsThatAreKnownToBeFlushedAreNoDefect) {
  const std::vector<Value> inputs = {floats({1e-40, 1}), floats({2, 2})};
  const Node product = make_node("Mul", {"X0", "X1"}, {"Y"});
  EXPECT_EQ(judge_node(product, inputs, floats({0, 2})).verdict, Verdict::defect);
  Arithmetic flushing;
  flushing.flushes_subnormals = true;
  EXPECT_EQ(judge_node(product, inputs, floats({0, 2}), &flushing).verdict, Verdict::precision);
  EXPECT_EQ(judge_node(product, inputs, floats({0, 2.1}), &flushing).verdict, Verdict::defect);
  EXPECT_EQ(judge_node(product, inputs, floats({0, 2})).verdict, Verdict::defect);
}

TEST(Judge, ProductsOfShortenedFactorsAreADifference) {
  const Value a = make_tensor(ElementType::f32, {1, 2}, {{1.0003, 2.0007}});
  const Value b = make_tensor(ElementType::f32, {2, 1}, {{3.0011, 5.0003}});
  const double exact = 1.0003 * 3.0011 + 2.0007 * 5.0003;
  const auto judged = [&](double off) {
    return judge_node(make_node("MatMul", {"X0", "X1"}, {"Y"}), {a, b},
                      make_tensor(ElementType::f32, {1, 1}, {{exact * (1 + off)}}));
  };
  EXPECT_EQ(judged(1e-8).verdict, Verdict::precision);
  EXPECT_EQ(judged(4e-4).verdict, Verdict::difference);
  EXPECT_EQ(judged(4e-4).profile, "tf32");
  EXPECT_EQ(judged(4e-3).profile, "bfloat16-products");
  EXPECT_EQ(judged(4e-2).verdict, Verdict::defect);
}

TEST(Judge, ACastThatAFusedSegmentLeftOutIsADifference) {
  const auto half = [](double x) { return make_tensor(ElementType::f16, {1}, {{x}}); };
  // What was rounded to 1.5 may have been half a step of 2^-10 more, and its power is.
  const std::vector<Value> inputs = {half(1.5), half(16)};
  const auto judged = [&](double before) {
    return judge_node(make_node("Pow", {"X0", "X1"}, {"Y"}), inputs, half(std::pow(before, 16)));
  };
  EXPECT_EQ(judged(1.5).verdict, Verdict::precision);
  EXPECT_EQ(judged(1.50045).verdict, Verdict::difference);
  EXPECT_EQ(judged(1.50045).profile, "casts-elided");
  EXPECT_EQ(judged(1.51).verdict, Verdict::defect);
}

// Y = P + X1 where the nodes before have given P exactly as they should.
Judgement judge_after_equal(const Node& before, const std::vector<Value>& inputs, double found) {
  const auto evaluator = make_evaluator(
      {before, make_node("Add", {"P", "X" + std::to_string(inputs.size() - 1)}, {"Y"})}, inputs);
  const std::span<const Value> read(inputs.data(), before.inputs.size());
  const auto right = evaluate_node(before, 17, read, Reading::value);
  EXPECT_TRUE(right);
  const auto judged =
      judge(*evaluator, inputs, {{"P", right->front().tensor()}, {"Y", floats({found})}}, 1);
  EXPECT_TRUE(judged);
  EXPECT_EQ(judged->size(), 2U);
  EXPECT_EQ(judged->front().verdict, Verdict::precision);
  EXPECT_EQ(judged->front().excess, 0);
  return judged->back();
}

// Bounds are not computed of what is equal; a chain that goes on from there still needs them.
TEST(Judge, WhatIsEqualMayHaveBeenRoundedAllTheSame) {
  const double lost = 0x1p-24;  // of (1 + 2^-12)^2, and of 1 + 2^-24
  const Value factor = floats({1 + 0x1p-12});
  const Node product = make_node("Mul", {"X0", "X1"}, {"P"});
  const std::vector<Value> products = {factor, factor, floats({-1 - 0x1p-11})};
  EXPECT_TRUE(judge_after_equal(product, products, 0).inside);
  EXPECT_TRUE(judge_after_equal(product, products, lost).inside);
  EXPECT_FALSE(judge_after_equal(product, products, 8 * lost).inside);
  const Node sum = make_node("ReduceSum", {"X0"}, {"P"});
  const std::vector<Value> sums = {floats({1, lost}), floats({-1})};
  EXPECT_TRUE(judge_after_equal(sum, sums, lost).inside);
  EXPECT_FALSE(judge_after_equal(sum, sums, 8 * lost).inside);
  const Node copy = make_node("Transpose", {"X0"}, {"P"});
  EXPECT_FALSE(judge_after_equal(copy, {floats({1}), floats({-1})}, lost).inside);
}

// A bound over the whole sequence grows with every step, here to anything.
TEST(Judge, ARecurrentLayerIsJudgedStepByStep) {
  constexpr std::int64_t kSteps = 60;
  std::vector<double> x(kSteps);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<double>(i));
  const auto weight = [](double w) { return make_tensor(ElementType::f32, {1, 1, 1}, {{w}}); };
  const std::vector<Value> inputs = {make_tensor(ElementType::f32, {kSteps, 1, 1}, x), weight(0.5),
                                     weight(-4)};
  Node layer = make_node("RNN", {"X0", "X1", "X2"}, {"Y"});
  layer.attributes.push_back(attribute("hidden_size", 1));
  const auto right = evaluate_node(layer, 14, inputs, Reading::value);
  ASSERT_TRUE(right);
  EXPECT_EQ(judge_node(layer, inputs, right->front().tensor()).verdict, Verdict::precision);
  std::vector<double> moved = right->front().tensor().reals();
  moved[50] += 1e-3;
  const Tensor wrong = make_tensor(ElementType::f32, {kSteps, 1, 1, 1}, moved);
  EXPECT_EQ(judge_node(layer, inputs, wrong).verdict, Verdict::defect);
}

TEST(Judge, WhatChanceMadeIsHeldAgainstNoOtherDraw) {
  const std::vector<Value> inputs = {floats({0.5, 0.5, 0.5, 0.5})};
  Node drawn = make_node("RandomUniformLike", {"X0"}, {"Y"});
  drawn.attributes.push_back(attribute("seed", 1.0));
  const auto evaluator = make_evaluator({drawn}, inputs);
  const auto judged = judge(*evaluator, inputs, {{"Y", floats({0.1, 0.2, 0.3, 0.4})}}, 1);
  ASSERT_TRUE(judged);
  ASSERT_EQ(judged->size(), 1U);
  EXPECT_EQ(judged->front().verdict, Verdict::precision);
  const auto outside = judge(*evaluator, inputs, {{"Y", floats({0.1, 0.2, 1.5, 0.4})}}, 1);
  ASSERT_TRUE(outside);
  EXPECT_EQ(outside->front().verdict, Verdict::defect);
  const auto spreads = rounding_spread(*evaluator, inputs, 1);
  ASSERT_TRUE(spreads);
  EXPECT_EQ(spreads->front().excess(floats({0.1, 0.2, 0.3, 0.4})), 0);
}

TEST(Turned, NamesTheDecisionThatTwoRecordingsTookDifferently) {
  const std::vector<Value> inputs = {floats({kSixth}), floats({3})};
  const auto evaluator = make_evaluator(
      {make_node("Mul", {"X0", "X1"}, {"P"}), make_node("Round", {"P"}, {"Y"})}, inputs);
  const std::map<std::string, Tensor> down = {{"P", floats({0.5})}, {"Y", floats({0})}};
  const std::map<std::string, Tensor> up = {{"P", floats({0.50000006})}, {"Y", floats({1})}};
  const auto turned = turned_layers(*evaluator, inputs, down, up, 1);
  ASSERT_TRUE(turned);
  ASSERT_EQ(turned->size(), 1U);
  const auto same = turned_layers(*evaluator, inputs, down, down, 1);
  ASSERT_TRUE(same);
  EXPECT_TRUE(same->empty());
}

TEST(Judge, NodesThatWereComputedAsOneAreNotRoundedBetween) {
  // (1 + 2^-12)^2 loses its last term where it is rounded; subtracted without that, it is there.
  const auto number = [](double x) { return make_tensor(ElementType::f32, {1}, {{x}}); };
  const std::vector<Value> inputs{number(1 + 0x1p-12), number(1 + 0x1p-11)};
  const auto evaluator = make_evaluator(
      {make_node("Mul", {"X0", "X0"}, {"square"}), make_node("Sub", {"square", "X1"}, {"Y"})},
      inputs);
  ASSERT_TRUE(evaluator);
  for (const double difference : {0x1p-24, 0x1p-20}) {
    const std::map<std::string, Tensor> recorded{{"square", number(1 + 0x1p-11)},
                                                 {"Y", number(difference)}};
    const auto judged = judge(*evaluator, inputs, recorded, 0);
    ASSERT_TRUE(judged);
    EXPECT_TRUE((*judged)[0].inside);
    EXPECT_EQ((*judged)[1].inside, difference == 0x1p-24);
  }
}

TEST(Profiles, AModeHasTheLinesOfItsBackend) {
  EXPECT_EQ(profile_of("nobody"), nullptr);
  ASSERT_NE(profile_of("jax"), nullptr);
  EXPECT_EQ(profile_of("jax-jit"), profile_of("jax"));
  EXPECT_TRUE(profile_of("jax")->flushes_subnormals);
  EXPECT_EQ(profile_of("onnxruntime-1.20.1-noopt"), profile_of("onnxruntime"));
}

TEST(Profiles, NamesTellWhatAllMayDoUnlessOneIsNobodys) {
  const auto joined = joined_profile(std::vector<std::string>{"reference", "torch", "jax-jit"});
  ASSERT_TRUE(joined);
  EXPECT_TRUE(joined->flushes_subnormals);
  const auto root = static_cast<std::size_t>(Operation::square_root);
  EXPECT_EQ(joined->functions[root].ulps, profile_of("torch")->functions[root].ulps);
  EXPECT_FALSE(joined_profile(std::vector<std::string>{"torch", "my-own"}));
}

}  // namespace
}  // namespace assay

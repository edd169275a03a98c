#include "compare/spread.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "base/parallel.h"
#include "compare/model_parts.h"

namespace assay {
namespace {

// Twenty times Y = tanh(Y + X), then its largest element's index.
std::unique_ptr<Evaluator> deep_model() {
  auto model = std::make_shared<Model>();
  model->ir_version = 8;
  model->opsets[""] = 17;
  Graph& graph = model->graph;
  graph.inputs.push_back({"X", ValueType::tensor(ElementType::f32, {Dim(4)})});
  std::string last = "X";
  for (int i = 0; i < 20; ++i) {
    const std::string sum = "S" + std::to_string(i), next = "T" + std::to_string(i);
    graph.nodes.push_back(make_node("Add", {last, "X"}, {sum}));
    graph.nodes.push_back(make_node("Tanh", {sum}, {next}));
    last = next;
  }
  graph.nodes.push_back(make_node("ArgMax", {last}, {"I"}));
  graph.outputs.push_back({last, ValueType::tensor(ElementType::f32, {Dim(4)})});
  graph.outputs.push_back({"I", ValueType::tensor(ElementType::i64, {Dim(1)})});
  auto evaluator = Evaluator::make(model);
  EXPECT_TRUE(evaluator);
  return *std::move(evaluator);
}

std::vector<Spread> spread_of(const std::vector<double>& input) {
  const auto evaluator = deep_model();
  auto spreads = rounding_spread(*evaluator, {make_tensor(ElementType::f32, {4}, input)}, 1);
  EXPECT_TRUE(spreads);
  return *std::move(spreads);
}

TEST(Spread, StaysNearWhatRoundingDoesAfterManyLayers) {
  const Spread spread = spread_of({0.1, -0.5, 0.3, 0.9}).front();
  for (const double allowance : spread.allowance) {
    EXPECT_GT(allowance, 0);
    EXPECT_LT(allowance, 1e-4);
  }
  EXPECT_EQ(spread.excess(spread.value), 0);
  std::vector<double> moved = spread.value.tensor().reals();
  moved[2] += 1e-8;
  EXPECT_LT(spread.excess(make_tensor(ElementType::f32, {4}, moved)), 1);
  moved[2] += 1e-3;
  std::size_t where = 0;
  EXPECT_GT(spread.excess(make_tensor(ElementType::f32, {4}, moved), &where), 1);
  EXPECT_EQ(where, 2U);
}

// Equal numbers, so large that rounding decides which of them takes all of a softmax.
TEST(Spread, WhatRoundingTakesFromMostAnyMayHave) {
  auto model = std::make_shared<Model>();
  model->ir_version = 8;
  model->opsets[""] = 17;
  Graph& graph = model->graph;
  constexpr std::int64_t kCount = 200;
  graph.inputs.push_back({"X", ValueType::tensor(ElementType::f32, {Dim(kCount)})});
  std::string power = "X";
  for (int i = 0; i < 5; ++i) {
    const std::string next = "P" + std::to_string(i);
    graph.nodes.push_back(make_node("Mul", {power, "X"}, {next}));
    power = next;
  }
  graph.nodes.push_back(make_node("Softmax", {power}, {"Y"}));
  graph.outputs.push_back({"Y", ValueType::tensor(ElementType::f32, {Dim(kCount)})});
  const auto evaluator = Evaluator::make(model);
  ASSERT_TRUE(evaluator);
  const Tensor huge = make_tensor(ElementType::f32, {kCount}, std::vector<double>(kCount, 1.1e5));
  const auto spreads = rounding_spread(**evaluator, {huge}, 1);
  ASSERT_TRUE(spreads);
  for (std::size_t winner = 0; winner < kCount; ++winner) {
    std::vector<double> two(kCount, 0);
    two[winner] = two[(winner + 1) % kCount] = 0.5;
    EXPECT_LE(spreads->front().excess(make_tensor(ElementType::f32, {kCount}, two)), 1) << winner;
  }
}

// a·b − c·d with one rounding fewer, as where a multiplication and an addition are one instruction.
TEST(Spread, AllowsOperationsThatAreComputedAsOne) {
  constexpr std::int64_t kCount = 4000;
  const ValueType row = ValueType::tensor(ElementType::f32, {Dim(kCount)});
  auto model = std::make_shared<Model>();
  model->ir_version = 8;
  model->opsets[""] = 17;
  Graph& graph = model->graph;
  std::vector<Value> inputs;
  std::vector<std::vector<float>> x;
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (const char* name : {"A", "B", "C", "D"}) {
    graph.inputs.push_back({name, row});
    Tensor tensor(ElementType::f32, {kCount});
    for (float& element : tensor.mutate<float>()) element = uniform(random);
    x.emplace_back(tensor.data<float>().begin(), tensor.data<float>().end());
    inputs.emplace_back(std::move(tensor));
  }
  graph.nodes.push_back(make_node("Mul", {"A", "B"}, {"P"}));
  graph.nodes.push_back(make_node("Mul", {"C", "D"}, {"Q"}));
  graph.nodes.push_back(make_node("Sub", {"P", "Q"}, {"S"}));
  graph.nodes.push_back(make_node("Identity", {"S"}, {"Y"}));
  graph.outputs.push_back({"Y", row});
  const auto evaluator = Evaluator::make(model);
  ASSERT_TRUE(evaluator);
  const auto spreads = rounding_spread(**evaluator, inputs, 1);
  ASSERT_TRUE(spreads);
  Tensor fused(ElementType::f32, {kCount}), wrong(ElementType::f32, {kCount});
  for (std::size_t i = 0; i < kCount; ++i) {
    fused.mutate<float>()[i] = std::fma(x[0][i], x[1][i], -(x[2][i] * x[3][i]));
    wrong.mutate<float>()[i] = fused.data<float>()[i] + 1e-6F;
  }
  EXPECT_LE(spreads->front().excess(fused), 1);
  EXPECT_GT(spreads->front().excess(wrong), 1);
}

TEST(Spread, IsTheSameHoweverManyThreadsShareIt) {
  const std::vector<double> input = {0.1, -0.5, 0.3, 0.9};
  set_thread_count(1);
  const Spread alone = spread_of(input).front();
  for (const int threads : {2, 8}) {
    set_thread_count(threads);
    EXPECT_EQ(spread_of(input).front().allowance, alone.allowance) << threads;
  }
  set_thread_count(0);
}

TEST(Spread, ADecisionThatRoundingCanTurnIsFree) {
  const Tensor other = make_integers(ElementType::i64, {1}, std::vector<std::int64_t>{1});
  EXPECT_GT(spread_of({0.1, -0.5, 0.3, 0.9})[1].excess(other), 1);
  const Spread tie = spread_of({0.9, 0.9, 0.9, 0.9})[1];
  EXPECT_EQ(tie.excess(other), 0);
}

TEST(Spread, AnotherShapeOrTypeIsNeverRounding) {
  const Spread spread = spread_of({0.1, -0.5, 0.3, 0.9}).front();
  EXPECT_TRUE(std::isinf(spread.excess(make_tensor(ElementType::f32, {2, 2}, {{0, 0, 0, 0}}))));
  EXPECT_TRUE(std::isinf(spread.excess(make_tensor(ElementType::f64, {4}, {{0, 0, 0, 0}}))));
}

}  // namespace
}  // namespace assay

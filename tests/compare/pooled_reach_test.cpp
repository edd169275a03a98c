#include "compare/pooled_reach.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "compare/model_parts.h"
#include "compare/spread.h"

namespace assay {
namespace {

// Half of the elements near 1, half near 1e-6; each is moved by a hundredth of itself or, if
// draws happen to spare it, not at all.
TEST(PooledReach, OthersOfAnElementsSizeTellHowFarItMayMove) {
  constexpr std::int64_t kCount = 512;
  std::vector<double> values(kCount), allowance(kCount);
  PooledReach pooled(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    values[i] = (i % 2 == 0 ? 1 : 1e-6) + 1e-9 * static_cast<double>(i);
    if (i % 8 > 1) pooled.add(i, values[i] / 100);
  }
  pooled.widen(make_tensor(ElementType::f64, {kCount}, values), 1, allowance);
  for (std::size_t i = 0; i < kCount; ++i) {
    EXPECT_GT(allowance[i], values[i] / 100) << i;
    EXPECT_LT(allowance[i], values[i] / 10) << i;
  }
}

TEST(PooledReach, WhatNothingMovesStaysWhereItIs) {
  constexpr std::int64_t kCount = 256;
  std::vector<double> values(kCount, 1), allowance(kCount);
  PooledReach pooled(kCount);
  for (std::size_t i = 128; i < kCount; ++i) {
    values[i] = 2;
    pooled.add(i, 0.5);
  }
  allowance[200] = 7;
  pooled.widen(make_tensor(ElementType::f64, {kCount}, values), 1, allowance);
  EXPECT_EQ(allowance[0], 0);
  EXPECT_EQ(allowance[127], 0);
  EXPECT_GT(allowance[128], 0.5);
  EXPECT_EQ(allowance[200], 7);
}

// Three layers of matrix products in float32, in the plain order of sums.
TEST(PooledReach, HonestResultsLieWellInsideWhateverTheSeed) {
  constexpr std::int64_t kWidth = 32;
  const ValueType square = ValueType::tensor(ElementType::f32, {Dim(kWidth), Dim(kWidth)});
  auto model = std::make_shared<Model>();
  model->ir_version = 8;
  model->opsets[""] = 17;
  Graph& graph = model->graph;
  graph.inputs = {{"X", square}, {"W", square}};
  for (const auto& [from, to] : {std::pair("X", "A"), {"A", "B"}, {"B", "Y"}})
    graph.nodes.push_back(make_node("MatMul", {from, "W"}, {to}));
  graph.outputs = {{"Y", square}};
  const auto evaluator = Evaluator::make(model);
  ASSERT_TRUE(evaluator);
  std::mt19937 random(11);
  std::uniform_real_distribution<float> uniform(-1, 1);
  Tensor x(ElementType::f32, {kWidth, kWidth}), w(ElementType::f32, {kWidth, kWidth});
  for (float& element : x.mutate<float>()) element = uniform(random);
  for (float& element : w.mutate<float>()) element = uniform(random);
  Tensor honest = x;
  for (int layer = 0; layer < 3; ++layer) {
    Tensor next(ElementType::f32, {kWidth, kWidth});
    const auto from = honest.data<float>(), by = w.data<float>();
    const auto to = next.mutate<float>();
    for (std::size_t i = 0; i < to.size(); ++i) {
      const std::size_t row = i / kWidth * kWidth, column = i % kWidth;
      for (std::size_t k = 0; k < kWidth; ++k) to[i] += from[row + k] * by[k * kWidth + column];
    }
    honest = std::move(next);
  }
  std::vector<double> elements = honest.reals();
  elements[77] *= 1.001;
  const Tensor wrong = make_tensor(ElementType::f32, {kWidth, kWidth}, elements);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto spreads = rounding_spread(**evaluator, {x, w}, seed);
    ASSERT_TRUE(spreads);
    std::size_t where = 0;
    EXPECT_LT(spreads->front().excess(honest), 0.7) << seed;
    EXPECT_GT(spreads->front().excess(wrong, &where), 1) << seed;
    EXPECT_EQ(where, 77U);
  }
}

}  // namespace
}  // namespace assay

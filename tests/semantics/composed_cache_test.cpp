// What is kept of the graphs that operators stand for must never change a result.
#include "semantics/composed_cache.h"

#include <thread>

#include <gtest/gtest.h>

#include "layers/keras/layers.h"
#include "semantics/evaluator.h"
#include "semantics/models.h"

namespace assay {
namespace {

Model keras_model(std::string op, std::vector<Attribute> arguments) {
  keras::use_layers();
  Node layer = node(std::move(op), {"x"}, {"y"}, std::move(arguments));
  layer.domain = keras::kDomain;
  Model result = model({std::move(layer)}, {untyped("x")}, {untyped("y")});
  result.opsets[std::string(keras::kDomain)] = 3;
  return result;
}

Tensor ramp(const Shape& shape, double start) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    values.push_back(start + 0.25 * static_cast<double>(i));
  }
  return make_tensor(ElementType::f32, shape, values);
}

// One more evaluator each time, as a file of cases has it: only what is kept connects them.
std::vector<Tensor> evaluate(const Model& m, const Tensor& x) {
  auto made = Evaluator::make(std::make_shared<const Model>(m));
  EXPECT_TRUE(made.has_value());
  const auto outputs = (*made)->run(std::vector<Value>{x}, {});
  EXPECT_TRUE(outputs.has_value()) << (outputs ? "" : outputs.error().message);
  std::vector<Tensor> tensors;
  if (outputs) {
    for (const Value& value : *outputs) tensors.push_back(value.tensor());
  }
  return tensors;
}

constexpr int kRounds = 4;

Tensor input_of(const Shape& shape, int round) { return ramp(shape, round - 1.5); }

// What a model gives for each shape, round by round, with nothing kept.
std::vector<std::vector<Tensor>> evaluate_fresh(const Model& m, const std::vector<Shape>& shapes) {
  std::vector<std::vector<Tensor>> all;
  for (int round = 0; round < kRounds; ++round) {
    for (const Shape& shape : shapes) {
      ComposedPlans::shared().forget();
      std::thread([&] { all.push_back(evaluate(m, input_of(shape, round))); }).join();
    }
  }
  return all;
}

void expect_same(const Model& m, const std::vector<Shape>& shapes,
                 const std::vector<std::vector<Tensor>>& fresh) {
  auto expected = fresh.begin();
  for (int round = 0; round < kRounds; ++round) {
    for (const Shape& shape : shapes) {
      const std::vector<Tensor> found = evaluate(m, input_of(shape, round));
      ASSERT_EQ(found.size(), expected->size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_TRUE(identical(found[i], (*expected)[i])) << "round " << round;
      }
      ++expected;
    }
  }
}

void expect_unchanged(const Model& m, const std::vector<Shape>& shapes) {
  const std::vector<std::vector<Tensor>> fresh = evaluate_fresh(m, shapes);
  expect_same(m, shapes, fresh);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { expect_same(m, shapes, fresh); });
  for (std::thread& thread : threads) thread.join();
}

TEST(ComposedCache, ServesLayersOfOtherModels) {
  using Integers = std::vector<std::int64_t>;
  expect_unchanged(keras_model("ZeroPadding1D", {attribute("padding", Integers{1, 2})}),
                   {{2, 3, 2}, {1, 4, 3}});
  expect_unchanged(keras_model("Reshape", {attribute("target_shape", Integers{-1, 2})}),
                   {{2, 3, 2}, {1, 4, 3}, {3, 2, 2}});
  expect_unchanged(keras_model("LeakyReLU", {attribute("alpha", 0.25)}), {{2, 3}, {2, 3, 1}});
}

TEST(ComposedCache, TellsArgumentsApart) {
  const Tensor x = ramp({1, 4}, -1);
  for (int round = 0; round < 3; ++round) {
    for (const double alpha : {0.25, 0.5}) {
      const auto found = evaluate(keras_model("LeakyReLU", {attribute("alpha", alpha)}), x);
      EXPECT_EQ(found.at(0).reals(),
                (std::vector<double>{-alpha, -0.75 * alpha, -0.5 * alpha, -0.25 * alpha}));
    }
  }
}

// The scale that this operator quantizes with comes from the elements.
TEST(ComposedCache, KeepsNoElements) {
  expect_unchanged(model({node("DynamicQuantizeLinear", {"x"}, {"y", "scale", "zero"})},
                         {untyped("x")}, {untyped("y"), untyped("scale"), untyped("zero")}),
                   {{5}, {2, 3}});
}

// A plan serves all shapes but those of inputs that its graph was seen to depend on.
TEST(ComposedCache, SharesPlansAcrossShapes) {
  const Model m = keras_model("LeakyReLU", {attribute("alpha", 0.25)});
  const auto made = Evaluator::make(std::make_shared<const Model>(m));
  ASSERT_TRUE(made.has_value());
  const PlannedNode& layer = (*made)->plan().nodes.front();
  const auto inputs = [](const Shape& shape) { return std::vector<Value>{ramp(shape, 0)}; };
  const auto key = [&](const std::vector<Value>& x) {
    return ComposedKey(layer, Reading::value, x);
  };
  const auto plan = std::make_shared<const Plan>();
  const std::vector<Value> small = inputs({2, 3}), large = inputs({4, 5}), flat = inputs({6});
  ComposedPlans plans;
  plans.keep(key(small), small, 0, plan);
  EXPECT_EQ(plans.find(key(small), small), nullptr) << "what came once is not kept";
  plans.keep(key(small), small, 0, plan);
  EXPECT_EQ(plans.find(key(small), small), plan);
  EXPECT_EQ(plans.find(key(large), large), plan);
  EXPECT_EQ(plans.find(key(flat), flat), nullptr);
  const auto other = std::make_shared<const Plan>();
  plans.keep(key(large), large, 1, other);
  EXPECT_EQ(plans.find(key(large), large), other);
  EXPECT_EQ(plans.find(key(small), small), nullptr);
}

TEST(ComposedCache, ServesLayersWhoseGraphDependsOnShapes) {
  using Integers = std::vector<std::int64_t>;
  expect_unchanged(keras_model("AveragePooling1D",
                               {attribute("pool_size", Integers{2}), attribute("padding", "same")}),
                   {{2, 3, 2}, {1, 4, 3}, {1, 5, 2}});
  expect_unchanged(keras_model("UnitNormalization", {}), {{2, 3}, {1, 4}});
}

// Names are compared one by one while there are few, and hashed from then on.
TEST(ComposedCache, PlansFindNamesInSmallAndLargeGraphs) {
  for (const int count : {3, 31, 32, 33, 200}) {
    std::vector<Node> nodes;
    for (int i = 0; i < count; ++i) {
      nodes.push_back(node("Add", {"a_common_start_" + std::to_string(i), "one"},
                           {"a_common_start_" + std::to_string(i + 1)}));
    }
    const Model chain =
        model(std::move(nodes), {untyped("a_common_start_0")},
              {untyped("a_common_start_" + std::to_string(count))}, {reals("one", {1})});
    EXPECT_EQ(evaluate(chain, ramp({1}, 0)).at(0).reals(), std::vector<double>{1.0 * count});
  }
}

}  // namespace
}  // namespace assay

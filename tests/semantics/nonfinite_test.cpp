#include "semantics/nonfinite.h"

#include <limits>

#include <gtest/gtest.h>

#include "semantics/models.h"

namespace assay {
namespace {

std::vector<NonFiniteOrigin> watch(Model m, std::vector<double> x) {
  auto shared = std::make_shared<const Model>(std::move(m));
  const auto evaluator = Evaluator::make(shared);
  NonFiniteWatch watch;
  EvaluateOptions options;
  options.observe = [&](const Evaluated& evaluated) { watch.observe(evaluated); };
  const auto count = static_cast<std::int64_t>(x.size());
  const auto outputs =
      (*evaluator)->run(std::vector<Value>{make_tensor(ElementType::f32, {count}, x)}, options);
  EXPECT_TRUE(outputs.has_value());
  return watch.finish(shared->graph, *outputs);
}

TEST(NonFinite, FindsTheNodeThatMadeIt) {
  const auto found =
      watch(model({node("Abs", {"x"}, {"a"}), node("Log", {"a"}, {"b"}), node("Neg", {"b"}, {"y"})},
                  {f32("x", {3})}, {untyped("y")}),
            {0, 1, 0});
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].node, "make_b");
  EXPECT_EQ(found[0].made.infinite, 2);
  EXPECT_EQ(found[0].made.nan, 0);
  EXPECT_TRUE(found[0].inputs_finite);
  EXPECT_TRUE(found[0].reaches_output);
}

TEST(NonFinite, SeesWhatReachesNoOutput) {
  const auto found = watch(model({node("Log", {"x"}, {"a"}), node("Less", {"a", "zero"}, {"c"}),
                                  node("Cast", {"c"}, {"y"}, {attribute("to", 1)})},
                                 {f32("x", {2})}, {untyped("y")}, {reals("zero", {0})}),
                           {-1, 1});
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].made.nan, 1);
  EXPECT_FALSE(found[0].reaches_output);
}

TEST(NonFinite, SeesNanMadeOfInfinities) {
  const auto found = watch(model({node("Reciprocal", {"x"}, {"a"}), node("Sub", {"a", "a"}, {"y"})},
                                 {f32("x", {1})}, {untyped("y")}),
                           {0});
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[1].node, "make_y");
  EXPECT_FALSE(found[1].inputs_finite);
  EXPECT_TRUE(found[0].reaches_output);
  EXPECT_TRUE(found[1].reaches_output);
}

TEST(NonFinite, DataIsNotAResult) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(watch(model({node("Add", {"x", "w"}, {"y"})}, {f32("x", {1})}, {untyped("y")},
                          {reals("w", {-infinity})}),
                    {1})
                  .empty());
  EXPECT_TRUE(
      watch(model({node("Relu", {"x"}, {"y"})}, {f32("x", {1})}, {untyped("y")}), {infinity})
          .empty());
  const Tensor value = make_tensor(ElementType::f32, {1}, std::vector<double>{-infinity});
  EXPECT_TRUE(watch(model({node("ConstantOfShape", {"n"}, {"y"}, {{"value", value}})},
                          {f32("x", {1})}, {untyped("y")}, {integers("n", {3})}),
                    {1})
                  .empty());
}

TEST(NonFinite, CountsIterationsOnce) {
  const auto body = graph({node("Log", {"s"}, {"next"}), node("Identity", {"go"}, {"go_on"}),
                           node("Abs", {"s"}, {"same"})},
                          {i64("i", {}), boolean("go"), untyped("s")},
                          {boolean("go_on"), untyped("same"), untyped("next")});
  const auto found = watch(model({node("Loop", {"n", "", "x"}, {"last", "all"}, {{"body", body}})},
                                 {f32("x", {1})}, {untyped("last")}, {integer("n", 5)}),
                           {0});
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].node, "make_last/body/make_next");
  EXPECT_EQ(found[0].steps, "#0");
  EXPECT_EQ(found[0].times, 5);
  EXPECT_FALSE(found[0].reaches_output);
}

}  // namespace
}  // namespace assay

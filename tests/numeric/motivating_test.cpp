// The motivating example of DEBAR (Zhang et al., ESEC/FSE 2020): a rectangle's width is twice its
// offset, which only partitions with affine relations see.
#include <gtest/gtest.h>

#include "numeric/lint.h"
#include "semantics/models.h"

namespace assay {
namespace {

Node split_columns(std::string x, std::vector<std::string> outputs) {
  return node("Split", {std::move(x)}, std::move(outputs),
              {attribute("axis", 1), attribute("num_outputs", 4)});
}

// bottom, left, top, right are the columns of concat(center - offset, center + offset).
Model rectangle(const Dims& dims = {100, 2}) {
  return model(
      {node("Sub", {"center", "offset"}, {"bottomleft"}),
       node("Add", {"center", "offset"}, {"topright"}),
       node("Concat", {"bottomleft", "topright"}, {"rectangle"}, {attribute("axis", 1)}),
       split_columns("rectangle", {"bottom", "left", "top", "right"}),
       node("Sub", {"right", "left"}, {"width"}), node("Sub", {"top", "bottom"}, {"height"}),
       node("Mul", {"width", "height"}, {"area"}), node("Reciprocal", {"area"}, {"scale"})},
      {f32("center", dims), f32("offset", dims)}, {untyped("scale")});
}

Ranges ranges(double low, double high) {
  Ranges result;
  result.inputs = {{"center", {{-10, 10}}}, {"offset", {{low, high}}}};
  return result;
}

LintVerdict verdict(const Model& m, const Ranges& given, Setting setting,
                    const std::string& name = "make_scale") {
  LintOptions options;
  options.setting = setting;
  options.search_seconds = 0;
  const Result<LintResult> result = lint(m, given, options);
  EXPECT_TRUE(result.has_value());
  for (const LintNode& found : result->nodes)
    if (found.name == name) return found.verdict;
  ADD_FAILURE() << name << " was not checked";
  return LintVerdict::unreachable;
}

TEST(Motivating, OnlyPartitionsWithAffineFormsProveIt) {
  for (TensorMode tensors : {TensorMode::smash, TensorMode::expand, TensorMode::partition}) {
    for (NumberMode numbers : {NumberMode::interval, NumberMode::affine}) {
      const bool proves = tensors != TensorMode::smash && numbers == NumberMode::affine;
      EXPECT_EQ(verdict(rectangle(), ranges(1, 2), {tensors, numbers}),
                proves ? LintVerdict::safe : LintVerdict::warning)
          << static_cast<int>(tensors) << ' ' << static_cast<int>(numbers);
      EXPECT_EQ(verdict(rectangle(), ranges(0, 1), {tensors, numbers}), LintVerdict::warning);
    }
  }
}

TEST(Motivating, HoldsForAnyNumberOfRectangles) {
  EXPECT_EQ(verdict(rectangle({Dim::named("n"), 2}), ranges(1, 2), {}), LintVerdict::safe);
  EXPECT_EQ(verdict(rectangle({Dim(), 2}), ranges(1, 2), {}), LintVerdict::safe);
}

TEST(Motivating, GivesAWitnessAndARange) {
  LintOptions options;
  options.search_seconds = 60;
  const Result<LintResult> result = lint(rectangle(), ranges(0, 1), options);
  ASSERT_TRUE(result.has_value());
  ASSERT_EQ(result->nodes.size(), 1);
  const LintNode& scale = result->nodes[0];
  EXPECT_EQ(scale.verdict, LintVerdict::error);
  ASSERT_TRUE(scale.witness.has_value());
  ASSERT_TRUE(scale.fix.has_value());
  EXPECT_EQ(scale.fix->root, "offset");
  EXPECT_GT(scale.fix->range.low, 0);
  EXPECT_EQ(scale.fix->range.high, 1);
  EXPECT_EQ(verdict(rectangle(), ranges(scale.fix->range.low, scale.fix->range.high), {}),
            LintVerdict::safe);
}

// An element minus one of another column is not zero: a term is a tensor, a box and an index map.
TEST(Motivating, DifferentColumnsDoNotCancel) {
  const auto columns = [](const std::string& other) {
    return model(
        {node("Split", {"x"}, {"a", "b"}, {attribute("axis", 1), attribute("num_outputs", 2)}),
         node("Sub", {"a", other}, {"d"}), node("Add", {"d", "one"}, {"e"}),
         node("Log", {"e"}, {"y"})},
        {f32("x", {3, 2})}, {untyped("y")}, {reals("one", {1})});
  };
  Ranges given;
  given.inputs = {{"x", {{-2, 2}}}};
  EXPECT_EQ(verdict(columns("b"), given, {}, "make_y"), LintVerdict::warning);
  EXPECT_EQ(verdict(columns("a"), given, {}, "make_y"), LintVerdict::safe);
}

// Rows trade places with themselves: x - transposed x is not zero either.
TEST(Motivating, TransposedTensorsDoNotCancel) {
  const Model m = model({node("Transpose", {"x"}, {"t"}), node("Sub", {"x", "t"}, {"d"}),
                         node("Add", {"d", "one"}, {"e"}), node("Log", {"e"}, {"y"}),
                         node("Transpose", {"t"}, {"back"}), node("Sub", {"x", "back"}, {"none"}),
                         node("Add", {"none", "one"}, {"f"}), node("Log", {"f"}, {"z"})},
                        {f32("x", {3, 3})}, {untyped("y"), untyped("z")}, {reals("one", {1})});
  Ranges given;
  given.inputs = {{"x", {{-2, 2}}}};
  EXPECT_EQ(verdict(m, given, {}, "make_y"), LintVerdict::warning);
  EXPECT_EQ(verdict(m, given, {}, "make_z"), LintVerdict::safe);
}

TEST(Motivating, KnowsRelu) {
  // relu(x) - relu(-x) = x, so the logarithm's argument is 2 + x - x.
  const Model m =
      model({node("Relu", {"x"}, {"p"}), node("Neg", {"x"}, {"m"}), node("Relu", {"m"}, {"q"}),
             node("Sub", {"p", "q"}, {"same"}), node("Sub", {"same", "x"}, {"zero"}),
             node("Add", {"zero", "two"}, {"e"}), node("Log", {"e"}, {"y"})},
            {f32("x", {4})}, {untyped("y")}, {reals("two", {2})});
  Ranges given;
  given.inputs = {{"x", {{-100, 100}}}};
  EXPECT_EQ(verdict(m, given, {}, "make_y"), LintVerdict::safe);
  EXPECT_EQ(verdict(m, given, {TensorMode::partition, NumberMode::interval}, "make_y"),
            LintVerdict::warning);
}

}  // namespace
}  // namespace assay

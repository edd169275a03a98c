// What is remembered of one node is said of another one only as far as they are alike: ranges are,
// numbers themselves are not.
#include <gtest/gtest.h>

#include "numeric/linted.h"
#include "numeric/transfer.h"

namespace assay {
namespace {

// Two halves of x and the first of y, each moved in the same way.
Model halves(const char* subtracted) {
  return model(
      {node("Slice", {"x", "from", "to"}, {"a"}), node("Slice", {"y", "from", "to"}, {"b"}),
       node("Slice", {"x", "from", "to"}, {"c"}), node("Transpose", {"a"}, {"at"}),
       node("Transpose", {"b"}, {"bt"}), node("Transpose", {"c"}, {"ct"}),
       node("Sub", {"at", subtracted}, {"d"}), node("Add", {"d", "half"}, {"e"}),
       node("Reciprocal", {"e"}, {"r"})},
      {f32("x", {4, 3}), f32("y", {4, 3})}, {untyped("r"), untyped("bt"), untyped("ct")},
      {integers("from", {0}), integers("to", {2}), reals("half", {0.5})});
}

TEST(Memory, WhatIsMovedAlikeKeepsItsOwnForms) {
  const Ranges given = inputs({{"x", {1, 2}}, {"y", {1, 2}}});
  EXPECT_EQ(verdict(run(halves("ct"), given), "r"), LintVerdict::safe);     // x - x
  EXPECT_EQ(verdict(run(halves("bt"), given), "r"), LintVerdict::warning);  // x - y
}

// x·w for tensors of other shapes: one range for all, and forms of their own.
TEST(Memory, PointsOfAnyShapeAreAlike) {
  const Model m = model({node("Mul", {"x", "w"}, {"a"}), node("Mul", {"y", "w"}, {"b"}),
                         node("Identity", {"a"}, {"same"}), node("Sub", {"a", "same"}, {"c"}),
                         node("Sub", {"b", "a"}, {"d"}), node("Reciprocal", {"d"}, {"r"}),
                         node("Add", {"c", "one"}, {"e"}), node("Reciprocal", {"e"}, {"s"})},
                        {f32("x", {4, 3}), f32("y", {2, 4, 3}), f32("w", {1})},
                        {untyped("r"), untyped("s")}, {reals("one", {1})});
  const LintResult result = run(m, inputs({{"x", {1, 2}}, {"y", {1, 2}}, {"w", {1, 2}}}));
  EXPECT_EQ(verdict(result, "r"), LintVerdict::warning);
  EXPECT_EQ(verdict(result, "s"), LintVerdict::safe);
}

// The same operator with another attribute, type or range is another node.
TEST(Memory, OtherNodesAreNotAlike) {
  const Model m = model({node("Clip", {"x", "zero"}, {"a"}), node("Clip", {"x", "one"}, {"b"}),
                         node("Sqrt", {"a"}, {"p"}), node("Reciprocal", {"b"}, {"q"}),
                         node("Reciprocal", {"a"}, {"r"}),
                         node("ReduceSum", {"x", "axes"}, {"t"}, {attribute("keepdims", 1)}),
                         node("ReduceSum", {"x", "axes"}, {"u"}, {attribute("keepdims", 0)}),
                         node("Add", {"t", "five"}, {"v"}), node("Add", {"u", "five"}, {"w"}),
                         node("Sqrt", {"v"}, {"y"}), node("Sqrt", {"w"}, {"z"})},
                        {f32("x", {2, 3})},
                        {untyped("p"), untyped("q"), untyped("r"), untyped("y"), untyped("z")},
                        {{"zero", make_scalar(ElementType::f32, 0), {}, {}},
                         {"one", make_scalar(ElementType::f32, 1), {}, {}},
                         integers("axes", {0}),
                         reals("five", {5})});
  const LintResult result = run(m, inputs({{"x", {-2, 2}}}));
  EXPECT_EQ(verdict(result, "p"), LintVerdict::safe);
  EXPECT_EQ(verdict(result, "q"), LintVerdict::safe);
  EXPECT_EQ(verdict(result, "r"), LintVerdict::warning);
  EXPECT_EQ(verdict(result, "y"), LintVerdict::safe);
  EXPECT_EQ(verdict(result, "z"), LintVerdict::safe);
}

// Numbers stand for forms as they come, and views of them are made again with others.
TEST(Memory, NumberedFormsAreMadeAgain) {
  Forms forms;
  const auto tensor = [&](Interval range) {
    Abstract x = uniform(ValueType::tensor(ElementType::f32, {2, 3}), range);
    x.cells[0].form = forms.cell(forms.new_tensor(), 0, 2, range);
    return x;
  };
  const std::vector<Abstract> first = {tensor({0, 1}), tensor({2, 3})};
  const std::vector<Abstract> second = {tensor({0, 1}), tensor({2, 3})};
  NumberedForms numbers(first);
  EXPECT_EQ(numbers.number_of(0), 0U);
  EXPECT_EQ(numbers.number_of(first[0].cells[0].form), 1U);
  EXPECT_EQ(numbers.number_of(first[1].cells[0].form), 2U);
  const IndexMap plain = {{0, 1, 0}, {1, 1, 0}}, turned = {{1, 1, 0}, {0, 1, 0}};
  EXPECT_EQ(numbers.seen_through(2, plain), 2U);
  const std::uint32_t view = numbers.seen_through(2, turned);
  EXPECT_EQ(view, 3U);

  std::vector<Abstract> outputs = {numbers.numbered(first[0]), numbers.numbered(first[1])};
  outputs[1].cells[0].form = view;
  const NumberedForms others(second);
  others.resolve(numbers.views(), outputs, forms);
  EXPECT_EQ(outputs[0].cells[0].form, second[0].cells[0].form);
  Interval cancelled{-1, 1};
  const std::uint32_t again = forms.seen_through(second[1].cells[0].form, turned);
  forms.sum(outputs[1].cells[0].form, forms.negated(again), cancelled);
  EXPECT_GT(cancelled.low, -1e-6);  // but for its rounding
  EXPECT_LT(cancelled.high, 1e-6);
}

}  // namespace
}  // namespace assay

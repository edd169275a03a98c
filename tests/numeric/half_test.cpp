// What a shorter format does not bear, and the few operations that must stay in float32.
#include "numeric/half.h"

#include "numeric/linted.h"

namespace assay {
namespace {

HalfResult in_half(const Model& m, const Ranges& given, ElementType type = ElementType::f16) {
  LintOptions options;
  options.as = type;
  const Result<LintResult> result = lint(m, given, options);
  EXPECT_TRUE(result.has_value());
  return *result->half;
}

// A square that overflows, and its root, which would not.
Model root_of_squares() {
  return model({node("Mul", {"x", "x"}, {"xx"}), node("ReduceSum", {"xx"}, {"s"}),
                node("Sqrt", {"s"}, {"r"}), node("Tanh", {"x"}, {"t"})},
               {f32("x", {8})}, {untyped("r"), untyped("t")});
}

TEST(Half, KeepsOnlyWhatMustStay) {
  const HalfResult result = in_half(root_of_squares(), inputs({{"x", {0, 1000}}}));
  ASSERT_FALSE(result.overflow.empty());
  EXPECT_EQ(result.overflow[0].name, "make_xx");
  EXPECT_TRUE(result.verified);
  EXPECT_EQ(result.keep, (std::vector<std::string>{"make_r", "make_s", "make_xx"}));
  const HalfResult brain =
      in_half(root_of_squares(), inputs({{"x", {0, 1000}}}), ElementType::bf16);
  EXPECT_TRUE(brain.overflow.empty() && brain.keep.empty() && brain.verified);
}

// 1e-12 is 0 in half precision, and the division no longer guarded.
TEST(Half, EpsilonsThatVanish) {
  const Model m = model({node("Add", {"x", "e"}, {"t"}), node("Div", {"x", "t"}, {"y"})},
                        {f32("x", {4})}, {untyped("y")}, {scalar("e", 1e-12)});
  const HalfResult result = in_half(m, inputs({{"x", {0, 1}}}));
  ASSERT_EQ(result.flush.size(), 1);
  EXPECT_EQ(result.flush[0].name, "e");
  ASSERT_EQ(result.overflow.size(), 1);
  EXPECT_EQ(result.overflow[0].name, "make_y");
  EXPECT_TRUE(result.verified);
  EXPECT_EQ(result.keep, (std::vector<std::string>{"make_t", "make_y"}));
}

TEST(Half, RunsOnOneInput) {
  const Value large(make_tensor(ElementType::f32, {8}, std::vector<double>(8, 500)));
  const auto result = run_as(root_of_squares(), std::span(&large, 1), {});
  ASSERT_TRUE(result.has_value());
  ASSERT_EQ(result->overflow.size(), 1);
  EXPECT_EQ(result->overflow[0].name, "make_xx");
  EXPECT_TRUE(result->verified);
  EXPECT_EQ(result->keep, (std::vector<std::string>{"make_r", "make_s", "make_xx"}));
  const Value tiny(make_tensor(ElementType::f32, {8}, std::vector<double>(8, 1e-5)));
  const auto small = run_as(root_of_squares(), std::span(&tiny, 1), {});
  ASSERT_TRUE(small.has_value());
  ASSERT_FALSE(small->flush.empty());
  EXPECT_TRUE(small->verified);
}

TEST(Half, BranchesStay) {
  const auto log = graph({node("Log", {"p"}, {"l"})}, {}, {untyped("l")});
  const auto same = graph({node("Identity", {"p"}, {"k"})}, {}, {untyped("k")});
  const Model m = model({node("Abs", {"x"}, {"p"}), branch({"y"}, log, same)},
                        {f32("x", {2}), boolean("c")}, {untyped("y")});
  const HalfResult result = in_half(m, inputs({{"x", {1, 2}}}));
  EXPECT_TRUE(result.verified);
  EXPECT_TRUE(result.overflow.empty());
}

}  // namespace
}  // namespace assay

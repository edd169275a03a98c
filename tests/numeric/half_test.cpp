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

// What is inside of a branch or a loop is an operation like any other.
TEST(Half, LooksIntoGraphsInside) {
  const auto log = graph({node("Log", {"p"}, {"l"})}, {}, {untyped("l")});
  const auto square = graph({node("Mul", {"p", "p"}, {"k"})}, {}, {untyped("k")});
  const Model m = model({node("Abs", {"x"}, {"p"}), branch({"y"}, log, square)},
                        {f32("x", {2}), boolean("c")}, {untyped("y")});
  const HalfResult fine = in_half(m, inputs({{"x", {1, 2}}}));
  EXPECT_TRUE(fine.verified);
  EXPECT_TRUE(fine.overflow.empty());
  const HalfResult large = in_half(m, inputs({{"x", {1, 1000}}}));
  ASSERT_EQ(large.overflow.size(), 1);
  EXPECT_EQ(large.overflow[0].name, "make_y/else_branch/make_k");
  EXPECT_TRUE(large.verified);
  EXPECT_EQ(large.keep, (std::vector<std::string>{"make_y/else_branch/make_k"}));
}

TEST(Half, LooksIntoLoops) {
  const auto body =
      graph({node("Mul", {"state", "hundred"}, {"next"}), node("Identity", {"go"}, {"go_on"})},
            {i64("i", {}), boolean("go"), untyped("state")}, {boolean("go_on"), untyped("next")});
  const Model m = model({node("Loop", {"n", "", "x"}, {"last"}, {{"body", body}})}, {f32("x", {2})},
                        {untyped("last")}, {integer("n", 3), scalar("hundred", 100)});
  const Value one(make_tensor(ElementType::f32, {2}, std::vector<double>{1, 1}));
  const auto result = run_as(m, std::span(&one, 1), {});
  ASSERT_TRUE(result.has_value());
  ASSERT_EQ(result->overflow.size(), 1);
  EXPECT_EQ(result->overflow[0].name, "make_last/body/make_next");
  EXPECT_TRUE(result->verified);
}

}  // namespace
}  // namespace assay

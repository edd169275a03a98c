// What the analysis knows beyond intervals of single nodes, and where it must not know more.
#include <cmath>

#include <gtest/gtest.h>

#include "numeric/analysis.h"
#include "numeric/lint.h"
#include "semantics/models.h"

namespace assay {
namespace {

LintNode linted(const Model& m, double low, double high, const std::string& name) {
  Ranges given;
  given.inputs = {{"x", {{low, high}}}};
  LintOptions options;
  options.search_seconds = 60;
  const Result<LintResult> result = lint(m, given, options);
  EXPECT_TRUE(result.has_value());
  for (const LintNode& found : result->nodes)
    if (found.name == name) return found;
  ADD_FAILURE() << name << " was not checked";
  return {};
}

// The number is rounded on its way, so that only its being the same one twice makes a square.
TEST(Precision, ANumberTimesItselfIsNotNegative) {
  const auto root = [](const char* other) {
    return model({node("ReduceMean", {"x"}, {"m"}), node("Sub", {"x", "m"}, {"d"}),
                  node("Sub", {"m", "x"}, {"e"}), node("Mul", {"d", other}, {"s"}),
                  node("Sqrt", {"s"}, {"y"})},
                 {f32("x", {8})}, {untyped("y"), untyped("e")});
  };
  EXPECT_EQ(linted(root("d"), -5, 5, "make_y").verdict, LintVerdict::safe);
  EXPECT_EQ(linted(root("e"), -5, 5, "make_y").verdict, LintVerdict::error);
}

// Both halves of [-60, 60] are safe for a softmax of four elements, but not both at once.
TEST(Precision, HalvesOfARangeSayNothingOfSeveralElements) {
  const Model m = model({node("Softmax", {"x"}, {"p"}), node("Log", {"p"}, {"y"})},
                        {f32("x", {2, 4})}, {untyped("y")});
  EXPECT_EQ(linted(m, -60, 60, "make_y").verdict, LintVerdict::error);
  const Model each = model(
      {node("Relu", {"x"}, {"r"}), node("Mul", {"x", "r"}, {"s"}), node("Sqrt", {"s"}, {"y"})},
      {f32("x", {3})}, {untyped("y")});
  const LintNode halved = linted(each, -2, 2, "make_y");
  EXPECT_EQ(halved.verdict, LintVerdict::safe);
  EXPECT_EQ(halved.why, "safe for x below 0 and above");
}

TEST(Precision, ASoftmaxOverAMaskedRow) {
  const auto masked = [](double hidden) {
    return model({node("Less", {"x", "zero"}, {"below"}),
                  node("Where", {"below", "hidden", "x"}, {"m"}), node("Softmax", {"m"}, {"y"})},
                 {f32("x", {2, 4})}, {untyped("y")},
                 {reals("zero", {0}), reals("hidden", {hidden})});
  };
  const LintNode found = linted(masked(-HUGE_VAL), -3, 3, "make_y");
  EXPECT_EQ(found.check, "lint.nan");
  EXPECT_EQ(found.verdict, LintVerdict::error);
  EXPECT_EQ(linted(masked(-1e9), -3, 3, "make_y").verdict, LintVerdict::safe);
}

// A grid has a cell for each element of a small constant only where they are not all the same.
TEST(Precision, AConstantOfOneNumberCutsNothing) {
  const auto cells = [](std::vector<double> bias) {
    const Model m = model({node("Add", {"x", "bias"}, {"y"})}, {f32("x", {2, 4})}, {untyped("y")},
                          {reals("bias", std::move(bias))});
    std::size_t count = 0;
    AnalysisOptions options;
    options.observe = [&](const Analyzed& seen) { count = seen.outputs[0].cells.size(); };
    Analysis analysis(m, options);
    analysis.inputs["x"] = uniform(m.graph.inputs[0].type, {-1, 1, false});
    analysis.run();
    return count;
  };
  EXPECT_EQ(cells({0, 0, 0, 0}), 1u);
  EXPECT_EQ(cells({0, 0, 1, 0}), 4u);
}

// What overflowed has no range any more, so what comes behind is no second report.
TEST(Precision, OneOverflowIsOneReport) {
  const Model m = model({node("Exp", {"x"}, {"e"}), node("Mul", {"e", "two"}, {"t"}),
                         node("Add", {"t", "two"}, {"y"})},
                        {f32("x", {3})}, {untyped("y")}, {reals("two", {2})});
  Ranges given;
  given.inputs = {{"x", {{0, 200}}}};
  const Result<LintResult> result = lint(m, given, {});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->warnings, 1);
}

}  // namespace
}  // namespace assay

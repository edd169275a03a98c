// Sums of products: terms with one range are counted, however many, and also along open axes.
#include "numeric/linted.h"

namespace assay {
namespace {

// Log(y + by) or, of a y below, Log(by - y), for what `nodes` make of x and w.
LintVerdict log_of_sum(std::vector<Node> nodes, std::vector<NamedType> given, const Ranges& ranges,
                       double by, bool below = false) {
  nodes.push_back(below ? node("Sub", {"by", "y"}, {"s"}) : node("Add", {"y", "by"}, {"s"}));
  nodes.push_back(node("Log", {"s"}, {"l"}));
  const LintResult result =
      run(model(nodes, std::move(given), {untyped("l")}, {scalar("by", by)}), ranges);
  EXPECT_TRUE(result.unknown.empty());
  return verdict(result, "l");
}

TEST(Contractions, CountTermsOfOneRange) {
  const Ranges ranges = inputs({{"x", {-1, 1}}, {"w", {0, 1}}});
  const std::vector<std::vector<Node>> products = {{node("MatMul", {"x", "w"}, {"y"})},
                                                   {node("Gemm", {"x", "w"}, {"y"})}};
  for (const std::vector<Node>& product : products) {
    const std::vector<NamedType> given = {f32("x", {4, 512}), f32("w", {512, 3})};
    EXPECT_EQ(log_of_sum(product, given, ranges, 513), LintVerdict::safe);
    EXPECT_EQ(log_of_sum(product, given, ranges, 511), LintVerdict::warning);
  }
  const std::vector<Node> convolution = {node("Conv", {"x", "w"}, {"y"})};
  const std::vector<NamedType> given = {f32("x", {1, 64, 9, 9}), f32("w", {5, 64, 3, 3})};
  EXPECT_EQ(log_of_sum(convolution, given, ranges, 577), LintVerdict::safe);
  EXPECT_EQ(log_of_sum(convolution, given, ranges, 575), LintVerdict::warning);
}

TEST(Contractions, KnowTermsOfOtherRanges) {
  const std::vector<NamedType> given = {f32("a", {2, 3}), f32("b", {2, 509}), f32("w", {512, 3})};
  const Ranges ranges = inputs({{"a", {-1, 1}}, {"b", {0, 1}}, {"w", {0, 1}}});
  const std::vector<Node> nodes = {node("Concat", {"a", "b"}, {"x"}, {attribute("axis", 1)}),
                                   node("MatMul", {"x", "w"}, {"y"})};
  EXPECT_EQ(log_of_sum(nodes, given, ranges, 3.5), LintVerdict::safe);
  EXPECT_EQ(log_of_sum(nodes, given, ranges, 2.5), LintVerdict::warning);
}

// As the gradient of weights, over the batch: up to 65,536 terms, as documented.
TEST(Contractions, KnowSumsAlongOpenAxes) {
  const std::vector<NamedType> given = {f32("x", {4, Dim::named("n")}),
                                        f32("w", {Dim::named("n"), 3})};
  const std::vector<Node> nodes = {node("MatMul", {"x", "w"}, {"y"})};
  const Ranges positive = inputs({{"x", {1, 1}}, {"w", {1, 2}}});
  EXPECT_EQ(log_of_sum(nodes, given, positive, -0.5), LintVerdict::safe);
  EXPECT_EQ(log_of_sum(nodes, given, positive, -1.5), LintVerdict::warning);
  EXPECT_EQ(log_of_sum(nodes, given, positive, 140'000, true), LintVerdict::safe);
  EXPECT_EQ(log_of_sum(nodes, given, positive, 130'000, true), LintVerdict::warning);
}

// An infinity among the terms: then it is their products that are counted.
TEST(Contractions, CountTermsBesideInfinities) {
  const std::vector<NamedType> given = {f32("x", {2, 100}), f32("w", {100, 2})};
  const double infinity = std::numeric_limits<double>::infinity();
  const Ranges ranges = inputs({{"x", {-1, infinity}}, {"w", {1, 1}}});
  const std::vector<Node> nodes = {node("MatMul", {"x", "w"}, {"y"})};
  EXPECT_EQ(log_of_sum(nodes, given, ranges, 101), LintVerdict::safe);
  EXPECT_EQ(log_of_sum(nodes, given, ranges, 99), LintVerdict::warning);
}

}  // namespace
}  // namespace assay

// Rewrites that make operations safe, and functions that are written out by hand.
#include "numeric/linted.h"

namespace assay {
namespace {

// The fix of the first unsafe operation.
LintFix fix_of(const Model& m, const Ranges& given = {}, std::string* check = nullptr) {
  for (const LintNode& node : run(m, given, 60).nodes)
    if (node.verdict == LintVerdict::warning || node.verdict == LintVerdict::error) {
      if (check) *check = node.check;
      return node.fix.value_or(LintFix{});
    }
  ADD_FAILURE() << "nothing is unsafe";
  return {};
}

Model of(std::vector<Node> nodes, std::vector<NamedTensor> initializers = {}) {
  const std::string last = nodes.back().outputs[0];
  return model(std::move(nodes), {f32("x", {Dim::named("n"), 10})}, {untyped(last)},
               std::move(initializers));
}

TEST(Rewrites, SoftmaxByHand) {
  const std::vector<Node> softmax = {node("Exp", {"x"}, {"e"}),
                                     node("ReduceSum", {"e", "last"}, {"s"}),
                                     node("Div", {"e", "s"}, {"p"})};
  std::string check;
  const NamedTensor last = integers("last", {-1});
  EXPECT_EQ(fix_of(of(softmax, {last}), {}, &check).rewrite, "softmax");
  EXPECT_EQ(check, "lint.softmax");
  std::vector<Node> loss = softmax;
  loss.push_back(node("Log", {"p"}, {"y"}));
  EXPECT_EQ(fix_of(of(loss, {last})).rewrite, "log-softmax");
  EXPECT_EQ(run(of(loss, {last}), {}, 60).nodes.back().fix->rewrite, "log-softmax");
}

TEST(Rewrites, LogSumExpByHand) {
  for (const int keep : {0, 1}) {
    const Model m = of({node("Exp", {"x"}, {"e"}),
                        node("ReduceSum", {"e", "last"}, {"s"}, {attribute("keepdims", keep)}),
                        node("Log", {"s"}, {"y"})},
                       {integers("last", {1})});
    std::string check;
    EXPECT_EQ(fix_of(m, {}, &check).rewrite, "log-sum-exp");
    EXPECT_EQ(check, "lint.log_sum_exp");
  }
}

TEST(Rewrites, LogarithmsOfSigmoids) {
  EXPECT_EQ(fix_of(of({node("Sigmoid", {"x"}, {"p"}), node("Log", {"p"}, {"y"})})).rewrite,
            "log-sigmoid");
  EXPECT_EQ(fix_of(of({node("Sigmoid", {"x"}, {"p"}), node("Sub", {"one", "p"}, {"q"}),
                       node("Log", {"q"}, {"y"})},
                      {scalar("one", 1)}))
                .rewrite,
            "log-complement");
  EXPECT_EQ(fix_of(of({node("Exp", {"x"}, {"e"}), node("Add", {"one", "e"}, {"t"}),
                       node("Log", {"t"}, {"y"})},
                      {scalar("one", 1)}))
                .rewrite,
            "softplus");
}

TEST(Rewrites, VarianceAsADifferenceOfSquares) {
  const Model m = of({node("Mul", {"x", "x"}, {"xx"}), node("ReduceMean", {"xx", "last"}, {"a"}),
                      node("ReduceMean", {"x", "last"}, {"b"}), node("Mul", {"b", "b"}, {"bb"}),
                      node("Sub", {"a", "bb"}, {"v"}), node("Sqrt", {"v"}, {"y"})},
                     {integers("last", {1})});
  std::string check;
  EXPECT_EQ(fix_of(m, inputs({{"x", {0, 100}}}), &check).rewrite, "variance");
  EXPECT_EQ(check, "lint.variance");
}

TEST(Rewrites, EpsilonsAndClips) {
  const Ranges positive = inputs({{"x", {0, 1}}}), both = inputs({{"x", {-2, 2}}});
  const Model log = of({node("Log", {"x"}, {"y"})});
  EXPECT_EQ(fix_of(log, positive).rewrite, "add-epsilon");
  EXPECT_EQ(fix_of(log, both).text, "clip the input to at least 1e-07");
  EXPECT_EQ(fix_of(of({node("Reciprocal", {"x"}, {"y"})}), positive).rewrite, "add-epsilon");
  EXPECT_EQ(fix_of(of({node("Exp", {"x"}, {"y"})})).text, "clip the input to at most 88");
  EXPECT_EQ(fix_of(of({node("Acos", {"x"}, {"y"})}), both).text, "clip the input to [-1, 1]");
  EXPECT_EQ(fix_of(of({node("Sqrt", {"x"}, {"y"})}), both).rewrite, "clip");
  const Ranges large = inputs({{"x", {0, 1e30}}});
  EXPECT_EQ(fix_of(of({node("Mul", {"x", "x"}, {"y"})}), large).rewrite, "clip");
  const auto to_i8 = attribute("to", static_cast<int>(ElementType::i8));
  EXPECT_EQ(fix_of(of({node("Cast", {"x"}, {"y"}, {to_i8})}), inputs({{"x", {0, 300}}})).text,
            "clip the input to at most 127");
}

// A file of an old version of the standard has other operators of the same names.
TEST(Rewrites, InModelsOfOldVersions) {
  Model m = of({node("Log", {"x"}, {"y"})});
  m.opsets[""] = 7;
  EXPECT_EQ(fix_of(m, inputs({{"x", {-2, 2}}})).rewrite, "clip");
}

TEST(Rewrites, InsideOfBranches) {
  const auto log = graph({node("Log", {"x"}, {"l"})}, {}, {untyped("l")});
  const auto identity = graph({node("Identity", {"x"}, {"k"})}, {}, {untyped("k")});
  Model m = model({branch({"y"}, log, identity)}, {f32("x", {2}), boolean("c")}, {untyped("y")});
  EXPECT_EQ(fix_of(m, inputs({{"x", {0, 1}}})).rewrite, "add-epsilon");
}

TEST(Rewrites, RangesAreTheWidest) {
  const LintFix fix = fix_of(of({node("Exp", {"x"}, {"y"})}), inputs({{"x", {-1000, 1000}}}));
  EXPECT_EQ(fix.root, "x");
  EXPECT_EQ(fix.range.low, -1000);
  EXPECT_NEAR(fix.range.high, 88.72, 0.01 * 88.72);
}

}  // namespace
}  // namespace assay

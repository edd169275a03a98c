// Bugs that people really write, each with its repaired twin.
#include "numeric/linted.h"

namespace assay {
namespace {

TEST(Lint, LogOfASoftmax) {
  const auto loss = [](const char* first, std::vector<Node> rest) {
    std::vector<Node> nodes = {node(first, {"x"}, {"p"}, {attribute("axis", -1)})};
    nodes.insert(nodes.end(), rest.begin(), rest.end());
    return model(nodes, {f32("x", {Dim::named("n"), 10})}, {untyped(nodes.back().outputs[0])});
  };
  const Model hand_written = loss("Softmax", {node("Log", {"p"}, {"y"})});
  EXPECT_EQ(verdict(run(hand_written, inputs({{"x", {-200, 200}}})), "y"), LintVerdict::warning);
  EXPECT_EQ(verdict(run(hand_written), "y"), LintVerdict::warning);
  EXPECT_EQ(verdict(run(hand_written, inputs({{"x", {-1, 1}}})), "y"), LintVerdict::safe);
  EXPECT_EQ(run(loss("LogSoftmax", {})).warnings, 0);
}

TEST(Lint, ExpOfLogits) {
  const Model bare = model({node("Exp", {"x"}, {"y"})}, {f32("x", {4})}, {untyped("y")});
  EXPECT_EQ(verdict(run(bare), "y"), LintVerdict::warning);
  EXPECT_EQ(verdict(run(bare, inputs({{"x", {-1000, 88}}})), "y"), LintVerdict::safe);
  const Model clipped =
      model({node("Clip", {"x", "low", "high"}, {"c"}), node("Exp", {"c"}, {"y"})}, {f32("x", {4})},
            {untyped("y")}, {scalar("low", -80), scalar("high", 80)});
  EXPECT_EQ(verdict(run(clipped), "y"), LintVerdict::safe);
}

TEST(Lint, ClippedProbability) {
  const auto clipped = [](double low) {
    return model({node("Sigmoid", {"x"}, {"p"}), node("Clip", {"p", "low", "high"}, {"c"}),
                  node("Log", {"c"}, {"y"})},
                 {f32("x", {3, 2})}, {untyped("y")}, {scalar("low", low), scalar("high", 1)});
  };
  EXPECT_EQ(verdict(run(clipped(0)), "y"), LintVerdict::warning);
  EXPECT_EQ(verdict(run(clipped(1e-7)), "y"), LintVerdict::safe);
}

// Constants fold in the graph's own type: 1 + 1e-10 is 1 in float32.
TEST(Lint, EpsilonThatVanishes) {
  const auto loss = [](double epsilon) {
    return model({node("Sigmoid", {"x"}, {"p"}), node("Add", {"one", "e"}, {"almost"}),
                  node("Sub", {"almost", "p"}, {"q"}), node("Log", {"q"}, {"y"})},
                 {f32("x", {5})}, {untyped("y")}, {scalar("one", 1), scalar("e", epsilon)});
  };
  EXPECT_EQ(verdict(run(loss(1e-10)), "y"), LintVerdict::warning);
  EXPECT_EQ(verdict(run(loss(1e-3)), "y"), LintVerdict::safe);
}

TEST(Lint, VarianceBelowZero) {
  const auto deviation = [](bool repaired) {
    std::vector<Node> nodes = {
        node("Mul", {"x", "x"}, {"xx"}), node("ReduceMean", {"xx", "axes"}, {"mean_of_squares"}),
        node("ReduceMean", {"x", "axes"}, {"mean"}), node("Mul", {"mean", "mean"}, {"square"}),
        node("Sub", {"mean_of_squares", "square"}, {"v"})};
    if (repaired) nodes.push_back(node("Relu", {"v"}, {"w"}));
    nodes.push_back(node("Sqrt", {repaired ? "w" : "v"}, {"y"}));
    return model(nodes, {f32("x", {8, 4})}, {untyped("y")}, {integers("axes", {0})});
  };
  EXPECT_EQ(verdict(run(deviation(false), inputs({{"x", {0, 100}}})), "y"), LintVerdict::warning);
  EXPECT_EQ(verdict(run(deviation(true), inputs({{"x", {0, 100}}})), "y"), LintVerdict::safe);
}

TEST(Lint, DivisionByASum) {
  const auto shares = [](double epsilon) {
    return model({node("ReduceSum", {"x"}, {"s"}), node("Add", {"s", "e"}, {"t"}),
                  node("Div", {"x", "t"}, {"y"})},
                 {f32("x", {Dim(), 3})}, {untyped("y")}, {scalar("e", epsilon)});
  };
  const Ranges given = inputs({{"x", {0, 1}}});
  EXPECT_EQ(verdict(run(shares(0), given), "y"), LintVerdict::warning);
  EXPECT_EQ(verdict(run(shares(0.01), given), "y"), LintVerdict::safe);
}

// A denominator of a square and an epsilon: x·x is not negative.
TEST(Lint, SquarePlusEpsilon) {
  const Model m = model({node("Mul", {"x", "x"}, {"xx"}), node("Add", {"xx", "e"}, {"t"}),
                         node("Sqrt", {"t"}, {"r"}), node("Div", {"x", "r"}, {"y"})},
                        {f32("x", {3})}, {untyped("y")}, {scalar("e", 1e-6)});
  const LintResult result = run(m, inputs({{"x", {-5, 5}}}));
  EXPECT_EQ(verdict(result, "r"), LintVerdict::safe);
  EXPECT_EQ(verdict(result, "y"), LintVerdict::safe);
}

TEST(Lint, IntegersDividedByZero) {
  const Model m =
      model({node("Div", {"a", "b"}, {"y"})}, {i64("a", {2}), i64("b", {2})}, {untyped("y")});
  EXPECT_EQ(verdict(run(m, inputs({{"b", {0, 3}}})), "y"), LintVerdict::warning);
  EXPECT_EQ(verdict(run(m, inputs({{"b", {1, 3}}})), "y"), LintVerdict::safe);
}

TEST(Lint, OverflowOfAProductInHalfPrecision) {
  const auto square = [](ElementType type) {
    return model({node("Mul", {"x", "x"}, {"y"})},
                 {{"x", ValueType::tensor(type, Dims{4}), {}, {}}}, {untyped("y")});
  };
  const Ranges given = inputs({{"x", {0, 1000}}});
  EXPECT_EQ(run(square(ElementType::f16), given).warnings, 1);
  EXPECT_EQ(run(square(ElementType::f32), given).warnings, 0);
  EXPECT_EQ(run(square(ElementType::f16)).warnings, 0) << "nothing is known but the type";
}

TEST(Lint, LoopsUntilNothingChanges) {
  const auto halves = [](double factor) {
    const auto body =
        graph({node("Mul", {"state", "factor"}, {"next"}), node("Identity", {"go"}, {"go_on"})},
              {i64("i", {}), boolean("go"), untyped("state")}, {boolean("go_on"), untyped("next")});
    return model({node("Loop", {"n", "", "x"}, {"last"}, {{"body", body}}),
                  node("Add", {"last", "one"}, {"t"}), node("Log", {"t"}, {"y"})},
                 {f32("x", {2})}, {untyped("y")},
                 {integer("n", 100), scalar("factor", factor), scalar("one", 1)});
  };
  const Ranges given = inputs({{"x", {0, 1}}});
  EXPECT_EQ(verdict(run(halves(0.5), given), "y"), LintVerdict::safe);
  EXPECT_EQ(verdict(run(halves(-2), given), "y"), LintVerdict::warning);
}

// A moving average of what is walked along stays between its ends; a weight below zero does not.
TEST(Lint, ScansUntilNothingChanges) {
  const auto averages = [](double weight, const char* result) {
    const auto body = graph(
        {node("Mul", {"state", "rest"}, {"kept"}), node("Mul", {"slice", "weight"}, {"gained"}),
         node("Add", {"kept", "gained"}, {"next"}), node("Identity", {"next"}, {"seen"})},
        {untyped("state"), untyped("slice")}, {untyped("next"), untyped("seen")});
    return model({node("Scan", {"start", "x"}, {"last", "all"},
                       {{"body", body}, {"num_scan_inputs", std::int64_t{1}}}),
                  node("Add", {result, "one"}, {"t"}), node("Log", {"t"}, {"y"})},
                 {f32("start", {2}), f32("x", {5, 2})}, {untyped("y")},
                 {scalar("weight", weight), scalar("rest", 1 - weight), scalar("one", 1)});
  };
  const Ranges given = inputs({{"start", {0, 1}}, {"x", {0, 1}}});
  for (const char* result : {"last", "all"}) {
    EXPECT_EQ(verdict(run(averages(0.5, result), given), "y"), LintVerdict::safe) << result;
    EXPECT_EQ(verdict(run(averages(-2, result), given), "y"), LintVerdict::warning) << result;
  }
}

TEST(Lint, BranchesThatAreNeverTaken) {
  const auto log_of = [](const char* x) {
    return graph({node("Log", {x}, {"l"})}, {}, {untyped("l")});
  };
  const auto identity = graph({node("Identity", {"x"}, {"k"})}, {}, {untyped("k")});
  Model m = model({branch({"y"}, identity, log_of("x"))}, {f32("x", {2})}, {untyped("y")});
  m.graph.initializers.push_back({"c", make_scalar(ElementType::boolean, 1), {}, {}});
  const LintResult result = run(m);
  ASSERT_EQ(result.nodes.size(), 1);
  EXPECT_EQ(result.nodes[0].verdict, LintVerdict::unreachable);
}

TEST(Lint, NamesWhatItDoesNotKnow) {
  Node strange = node("Strange", {"x"}, {"u"});
  strange.domain = "nobody.knows";
  Model m = model({strange, node("Log", {"u"}, {"y"})}, {f32("x", {2})}, {untyped("y")});
  m.opsets["nobody.knows"] = 1;
  const LintResult result = run(m);
  ASSERT_EQ(result.unknown.size(), 2);
  EXPECT_EQ(result.unknown[0].first, "make_u");
}

// Along the operand that reaches furthest, without what only moves elements.
TEST(Lint, TellsTheWayOfARange) {
  const Model m = model({node("Sub", {"x", "y"}, {"d"}), node("Mul", {"x", "d"}, {"p"}),
                         node("Transpose", {"p"}, {"t"}), node("Exp", {"t"}, {"e"})},
                        {f32("x", {2, 3}), f32("y", {2, 3})}, {untyped("e")});
  const LintResult result = run(m, inputs({{"x", {-1, 2}}, {"y", {-50, 50}}}));
  ASSERT_EQ(result.nodes.size(), 1);
  std::vector<std::string> names;
  for (const LintStep& step : result.nodes[0].path) names.push_back(step.name + " " + step.op);
  EXPECT_EQ(names, (std::vector<std::string>{"y ", "d Sub", "p Mul"}));
  EXPECT_EQ(result.nodes[0].path[1].range.low, -51);
}

TEST(Lint, WitnessesAreReal) {
  const Model m = model({node("Log", {"x"}, {"y"})}, {f32("x", {2, 3})}, {untyped("y")});
  const LintResult result = run(m, inputs({{"x", {0, 4}}}), 30);
  ASSERT_EQ(result.nodes.size(), 1);
  EXPECT_EQ(result.nodes[0].verdict, LintVerdict::error);
  ASSERT_TRUE(result.nodes[0].witness.has_value());
  EXPECT_EQ(result.nodes[0].witness->result, "-inf in y");
  ASSERT_TRUE(result.nodes[0].fix.has_value());
  EXPECT_EQ(run(m, inputs({{"x", {result.nodes[0].fix->range.low, 4}}})).warnings, 0);
}

TEST(Lint, ParametersKeepTheirValuesUnlessNamed) {
  const Model m = model({node("Add", {"x", "w"}, {"s"}), node("Log", {"s"}, {"y"})},
                        {f32("x", {2})}, {untyped("y")}, {reals("w", {3, 4})});
  Ranges given = inputs({{"x", {-2, 2}}});
  EXPECT_EQ(verdict(run(m, given), "y"), LintVerdict::safe);
  given.parameters = {{"*", {{0, 1}}}};
  const LintResult result = run(m, given);
  EXPECT_EQ(verdict(result, "y"), LintVerdict::warning);
  EXPECT_EQ(result.nodes[0].cause, (std::vector<std::string>{"x", "w"}));
}

// The first version of Tile has the count as a real number, which is not known here.
TEST(Lint, ARealNumberMayDecideWhereElementsGo) {
  Node tile = node("Tile", {"x", "count", "axis"}, {"t"});
  tile.version = 1;
  const Model m = model({tile, node("Exp", {"t"}, {"y"})}, {f32("x", {2, 2}), f32("count", {})},
                        {untyped("y")}, {scalar("axis", 1)});
  const LintResult result = run(m, inputs({{"x", {-1000, 1000}}, {"count", {1, 4}}}));
  EXPECT_EQ(verdict(result, "y"), LintVerdict::warning);
}

// TensorFlow multiplies a tensor of three axes by a matrix so: the batch is open.
TEST(Lint, FollowsElementsThroughAProductOfOpenExtents) {
  const Model m = model({node("Shape", {"x"}, {"s"}), node("Gather", {"s", "two"}, {"lead"}),
                         node("ReduceProd", {"lead"}, {"count"}),
                         node("Concat", {"count", "four"}, {"flat"}, {attribute("axis", 0)}),
                         node("Reshape", {"x", "flat"}, {"f"}), node("MatMul", {"f", "w"}, {"p"}),
                         node("Concat", {"lead", "five"}, {"back"}, {attribute("axis", 0)}),
                         node("Reshape", {"p", "back"}, {"r"}), node("Exp", {"r"}, {"y"})},
                        {f32("x", {Dim::named("n"), 7, 4}), f32("w", {4, 5})}, {untyped("y")},
                        {integers("two", {0, 1}), integers("four", {4}), integers("five", {5})});
  const LintResult small = run(m, inputs({{"x", {-1, 1}}, {"w", {-1, 1}}}));
  EXPECT_EQ(verdict(small, "y"), LintVerdict::safe);
  EXPECT_TRUE(small.unknown.empty());
  const LintResult large = run(m, inputs({{"x", {-1, 1}}, {"w", {-50, 1}}}));
  EXPECT_EQ(verdict(large, "y"), LintVerdict::warning);
}

// A ratio that may be 1 does not say that nothing is left.
TEST(Lint, ADropoutMayKeepElements) {
  const std::int64_t yes = 1;
  const NamedTensor train{"train", make_integers(ElementType::boolean, {}, std::span(&yes, 1)), {}};
  const Model m =
      model({node("Dropout", {"x", "ratio", "train"}, {"d"}), node("Exp", {"d"}, {"y"})},
            {f32("x", {3}), f32("ratio", {})}, {untyped("y")}, {train});
  const LintResult result = run(m, inputs({{"x", {0, 1000}}, {"ratio", {0, 9}}}));
  EXPECT_EQ(verdict(result, "y"), LintVerdict::warning);
}

// Wherever a cubic reads, its negative weights may go below the least element.
TEST(Lint, ACubicGoesBeyondItsElements) {
  Node sample = node("GridSample", {"x", "grid"}, {"s"});
  sample.attributes = {attribute("mode", "cubic")};
  const Model m =
      model({sample, node("Add", {"s", "more"}, {"a"}), node("Sqrt", {"a"}, {"y"})},
            {f32("x", {1, 1, 2}), f32("grid", {1, 2, 1})}, {untyped("y")}, {scalar("more", 12)});
  const LintResult result = run(m, inputs({{"x", {-10, 10}}, {"grid", {-9, 9}}}));
  EXPECT_EQ(verdict(result, "y"), LintVerdict::warning);
}

// Of many causes the first are named, and the one that the path begins at.
TEST(Lint, NamesFewOfManyCauses) {
  constexpr int kRoots = 30;
  std::vector<NamedType> roots;
  std::vector<std::string> names;
  for (int i = 0; i < kRoots; ++i) {
    names.push_back("x" + std::to_string(i));
    roots.push_back(f32(names.back(), {2}));
  }
  const Model m =
      model({node("Sum", names, {"s"}), node("Log", {"s"}, {"y"})}, roots, {untyped("y")});
  const LintResult result = run(m, inputs({{"x25", {-9, 9}}, {"*", {0, 1}}}));
  const LintNode& log = result.nodes.back();
  ASSERT_EQ(log.cause.size(), 21);
  EXPECT_EQ(log.cause.front(), "x0");
  EXPECT_EQ(log.cause.back(), "x25");
  EXPECT_EQ(log.more_causes, 9);
}

TEST(Lint, RangesAreReadAsTheContractSays) {
  const auto parsed = parse_ranges(
      R"({"inputs": {"x": [0, 1], "q": [[0, 255], null]}, "parameters": {"w*": [null, 2]}})", "r");
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->inputs[1].ranges.size(), 2);
  EXPECT_FALSE(parsed->parameters[0].ranges[0].low.has_value());
  for (const char* wrong : {"[", "[1]", R"({"input": {}})", R"({"inputs": {"x": [2, 1]}})",
                            R"({"inputs": {"x": [1]}})", R"({"inputs": {"x": ["a", 1]}})"}) {
    const auto refused = parse_ranges(wrong, "r.json");
    ASSERT_FALSE(refused.has_value()) << wrong;
    EXPECT_EQ(refused.error().kind, "usage");
    EXPECT_NE(refused.error().message.find("r.json"), std::string::npos);
  }
}

// Pixels that are divided by 255 lie in [0, 255], unless somebody says otherwise.
TEST(Lint, PreparedPixelsHaveARange) {
  const Model m = model({node("Div", {"x", "most"}, {"s"}), node("Sub", {"s", "half"}, {"c"}),
                         node("Exp", {"c"}, {"y"})},
                        {f32("x", {Dim::named("n"), 4, 4, 3})}, {untyped("y")},
                        {scalar("most", 255), scalar("half", 0.5)});
  const LintResult result = run(m);
  ASSERT_EQ(result.found.size(), 1);
  EXPECT_EQ(result.found[0].range.high, 255);
  EXPECT_EQ(result.found[0].by, "make_s");
  EXPECT_EQ(verdict(result, "y"), LintVerdict::safe);
  Ranges open;
  open.inputs = {{"x", {{}}}};
  EXPECT_EQ(verdict(run(m, open), "y"), LintVerdict::warning);
  const Model other = model({node("Div", {"x", "most"}, {"s"}), node("Exp", {"s"}, {"y"})},
                            {f32("x", {4, 4})}, {untyped("y")}, {scalar("most", 3)});
  EXPECT_TRUE(run(other).found.empty());
}

TEST(Lint, NamesBeatGlobsAndScalarsAreUnbounded) {
  Model m = model({node("Add", {"w1", "w2"}, {"y"})}, {f32("x", {2})}, {untyped("y")},
                  {reals("w1", {1}), scalar("w2", 1)});
  Ranges given;
  given.parameters = {{"*", {{0, 1}}}, {"w1", {{5, 6}}}, {"nobody", {{0, 1}}}};
  const Roots roots = apply_ranges(m, given);
  ASSERT_EQ(roots.roots.size(), 2);
  EXPECT_EQ(roots.roots[1].name, "w1");
  EXPECT_EQ(roots.roots[1].range.low, 5);
  EXPECT_EQ(roots.unused, std::vector<std::string>{"nobody"});
}

}  // namespace
}  // namespace assay

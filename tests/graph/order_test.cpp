// Order, cycles and scopes of names.
#include "graph/order.h"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "graph/make_node.h"

namespace assay {
namespace {

using Strings = std::vector<std::string>;

Graph make_graph(const Strings& inputs, std::vector<Node> nodes, const Strings& outputs) {
  Graph graph;
  for (const std::string& name : inputs) graph.inputs.push_back({name, {}});
  for (const std::string& name : outputs) graph.outputs.push_back({name, {}});
  graph.nodes = std::move(nodes);
  return graph;
}

Node with_subgraph(Node node, const std::string& attribute, Graph graph) {
  node.set(attribute, std::make_shared<const Graph>(std::move(graph)));
  return node;
}

Model make_model(Graph graph) {
  Model model;
  model.opsets[""] = 21;
  model.graph = std::move(graph);
  return model;
}

Strings rules(const Model& model) {
  Strings result;
  for (const StructureFinding& finding : check_structure(model)) {
    result.push_back(finding.rule);
    EXPECT_EQ(finding.message.find('\n'), std::string::npos);
  }
  return result;
}

Strings rules(Graph graph) { return rules(make_model(std::move(graph))); }

TEST(Structure, OfAGoodGraphHasNoFindings) {
  Graph graph = make_graph(
      {"x", "w"}, {make_node("Mul", {"x", "w"}, {"a"}), make_node("Clip", {"a", "", "x"}, {"y"})},
      {"y"});
  graph.initializers.push_back({"w", make_scalar(ElementType::f32, 1)});  // the input's default
  EXPECT_EQ(rules(graph), Strings());
}

TEST(Structure, TellsLateFromUndefinedNames) {
  EXPECT_EQ(rules(make_graph({"x"}, {make_node("Neg", {"nowhere"}, {"y"})}, {"y"})),
            Strings({"Graph.undefined"}));
  const Model late = make_model(
      make_graph({"x"}, {make_node("Neg", {"a"}, {"y"}), make_node("Abs", {"x"}, {"a"})}, {"y"}));
  const auto findings = check_structure(late);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].rule, "Graph.order");
  EXPECT_EQ(findings[0].node, "y");
  EXPECT_NE(findings[0].message.find("later node 'a'"), std::string::npos) << findings[0].message;
}

TEST(Structure, NamesACycleOnceWithItsPath) {
  const Model model =
      make_model(make_graph({"x"},
                            {make_node("Add", {"x", "c"}, {"a"}), make_node("Neg", {"a"}, {"b"}),
                             make_node("Abs", {"b"}, {"c"}), make_node("Add", {"c", "a"}, {"y"})},
                            {"y"}));
  const auto findings = check_structure(model);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].rule, "Graph.cycle");
  EXPECT_NE(findings[0].message.find("'a' <- 'c' <- 'b' <- 'a'"), std::string::npos)
      << findings[0].message;
}

TEST(Structure, SeesANodeThatNeedsItself) {
  EXPECT_EQ(rules(make_graph({}, {make_node("Neg", {"y"}, {"y"})}, {"y"})),
            Strings({"Graph.cycle"}));
}

TEST(Structure, SeesACycleThroughASubgraph) {
  Node branch = with_subgraph(make_node("If", {"x"}, {"a"}), "then_branch",
                              make_graph({}, {make_node("Neg", {"b"}, {"inner"})}, {"inner"}));
  const Model model =
      make_model(make_graph({"x"}, {branch, make_node("Abs", {"a"}, {"b"})}, {"b"}));
  const auto findings = check_structure(model);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].rule, "Graph.cycle");
  EXPECT_EQ(findings[0].node, "a/then_branch/inner");
}

TEST(Structure, ShortensTheTextOfALongCycle) {
  std::vector<Node> nodes;
  nodes.reserve(5000);
  for (int i = 0; i < 5000; ++i) {
    nodes.push_back(
        make_node("Neg", {fmt::format("v{}", (i + 4999) % 5000)}, {fmt::format("v{}", i)}));
  }
  const auto findings = check_structure(make_model(make_graph({}, std::move(nodes), {"v0"})));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_LT(findings[0].message.size(), 300U);
  EXPECT_NE(findings[0].message.find("more)"), std::string::npos);
}

TEST(Structure, RefusesDoubleNames) {
  EXPECT_EQ(rules(make_graph(
                {"x"}, {make_node("Neg", {"x"}, {"y"}), make_node("Abs", {"x"}, {"y"})}, {"y"})),
            Strings({"Graph.duplicate"}));
  EXPECT_EQ(rules(make_graph({"x"}, {make_node("Neg", {"x"}, {"x"})}, {"x"})),
            Strings({"Graph.duplicate"}));
  EXPECT_EQ(rules(make_graph({"x", "x"}, {make_node("Neg", {"x"}, {"y"})}, {"y"})),
            Strings({"Graph.duplicate"}));
  Graph twice = make_graph({}, {make_node("Neg", {"w"}, {"y"})}, {"y"});
  twice.initializers = {{"w", make_scalar(ElementType::f32, 1)},
                        {"w", make_scalar(ElementType::f32, 2)}};
  EXPECT_EQ(rules(twice), Strings({"Graph.duplicate"}));
}

TEST(Structure, RefusesASubgraphThatHidesAnOuterName) {
  const auto model = [](const std::string& inner) {
    Node branch = with_subgraph(make_node("If", {"x"}, {"y"}), "then_branch",
                                make_graph({}, {make_node("Neg", {"a"}, {inner})}, {inner}));
    return make_graph({"x"}, {make_node("Abs", {"x"}, {"a"}), branch}, {"y"});
  };
  EXPECT_EQ(rules(model("a")), Strings({"Graph.shadow"}));
  EXPECT_EQ(rules(model("fresh")), Strings());
  EXPECT_EQ(rules(model("y")), Strings());  // not yet visible where the subgraph runs
}

TEST(Structure, ScopesEndWithTheirGraph) {
  Node branch = with_subgraph(make_node("If", {"x"}, {"a"}), "then_branch",
                              make_graph({}, {make_node("Neg", {"x"}, {"inner"})}, {"inner"}));
  EXPECT_EQ(rules(make_graph({"x"}, {branch, make_node("Abs", {"inner"}, {"y"})}, {"y"})),
            Strings({"Graph.undefined"}));
}

TEST(Structure, WantsEveryGraphToMakeItsOutputs) {
  EXPECT_EQ(rules(make_graph({"x"}, {make_node("Neg", {"x"}, {"y"})}, {"y", "z"})),
            Strings({"Graph.output"}));
  Node branch =
      with_subgraph(make_node("If", {"x"}, {"y"}), "then_branch", make_graph({}, {}, {"x"}));
  const auto findings = check_structure(make_model(make_graph({"x"}, {branch}, {"y"})));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].node, "y/then_branch");
  EXPECT_NE(findings[0].message.find("outer graph"), std::string::npos);
}

TEST(Structure, WantsNamesWhereTheyAreNeeded) {
  EXPECT_EQ(rules(make_graph({"x"}, {make_node("", {"x"}, {"y"})}, {"y"})),
            Strings({"Graph.operator"}));
  EXPECT_EQ(rules(make_graph({""}, {}, {})), Strings({"Graph.unnamed"}));
  Node twice = make_node("Neg", {"x"}, {"y"});
  twice.attributes = {{"axis", std::int64_t{1}}, {"axis", std::int64_t{2}}};
  EXPECT_EQ(rules(make_graph({"x"}, {twice}, {"y"})), Strings({"Graph.attribute"}));
}

TEST(Structure, WantsAnOperatorSetForEachDomain) {
  Node custom = make_node("Op", {"x"}, {"a"});
  custom.domain = "custom";
  Node again = custom;
  again.outputs = {"b"};
  Model model = make_model(make_graph({"x"}, {custom, again}, {"b"}));
  EXPECT_EQ(rules(model), Strings({"Graph.opset"}));  // once
  model.opsets["custom"] = 1;
  EXPECT_EQ(rules(model), Strings());
}

Function make_function(const std::string& name, const Strings& calls) {
  Function function;
  function.domain = "local";
  function.name = name;
  function.inputs = {"x"};
  function.outputs = {"y0"};
  function.opsets["local"] = 1;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    Node call = make_node(calls[i], {"x"}, {fmt::format("y{}", i)});
    call.domain = "local";
    function.nodes.push_back(call);
  }
  return function;
}

TEST(Structure, FindsFunctionsThatCallThemselves) {
  Model model = make_model(make_graph({}, {}, {}));
  model.functions = {make_function("f", {"g", "Relu"}), make_function("g", {"Relu"})};
  EXPECT_EQ(rules(model), Strings());
  model.functions = {make_function("f", {"g"}), make_function("g", {"h", "g"}),
                     make_function("h", {"f"})};
  const auto findings = check_structure(model);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].rule, "Graph.recursion");
  EXPECT_NE(findings[0].message.find("'local.g' -> 'local.g'"), std::string::npos)
      << findings[0].message;
  EXPECT_NE(findings[1].message.find("'local.f' -> 'local.g' -> 'local.h' -> 'local.f'"),
            std::string::npos)
      << findings[1].message;
}

TEST(Structure, ChecksTheInsideOfFunctions) {
  Model model = make_model(make_graph({}, {}, {}));
  model.functions = {make_function("f", {"Relu"}), make_function("f", {"Relu"})};
  EXPECT_EQ(rules(model), Strings({"Graph.function"}));
  model.functions.pop_back();
  model.functions[0].nodes[0].inputs = {"outer"};
  EXPECT_EQ(rules(model), Strings({"Graph.undefined"}));
}

TEST(Structure, RefusesDeepNesting) {
  const auto nested = [](int depth) {
    Graph graph = make_graph({}, {make_node("Neg", {"x"}, {"y"})}, {"y"});
    for (int i = 0; i < depth; ++i) {
      graph = make_graph({}, {with_subgraph(make_node("If", {"x"}, {"y"}), "b", std::move(graph))},
                         {"y"});
    }
    graph.inputs.push_back({"x", {}});
    return graph;
  };
  EXPECT_EQ(rules(nested(kMaxNesting)), Strings());
  EXPECT_EQ(rules(nested(kMaxNesting + 1)), Strings({"Graph.nesting"}));
}

TEST(Structure, StopsAfterAThousandFindings) {
  std::vector<Node> nodes(5000, make_node("Neg", {"nowhere"}, {"", ""}));
  EXPECT_EQ(rules(make_graph({}, std::move(nodes), {})).size(), 1000U);
}

TEST(CapturedNames, AreThoseOfAllDepthsInOrder) {
  Node inner = with_subgraph(make_node("If", {"c"}, {"i"}), "then_branch",
                             make_graph({}, {make_node("Add", {"p", "deep"}, {"q"})}, {"q"}));
  Graph graph = make_graph({"p"}, {make_node("Add", {"p", "outer"}, {"s"}), inner}, {"i", "other"});
  graph.initializers.push_back({"c", make_scalar(ElementType::boolean, 1)});
  EXPECT_EQ(captured_names(graph), Strings({"outer", "deep", "other"}));
}

}  // namespace
}  // namespace assay

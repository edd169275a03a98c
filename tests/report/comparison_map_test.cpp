// The localisation map: values, judgements and origins of every node, under names that stay short.
#include "report/comparison_map.h"

#include <gtest/gtest.h>

#include "graph/make_node.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

Node named(const std::string& name, Node node) {
  node.name = name;
  return node;
}

// X -> Relu -> r -> Add(w) -> Y
Model small_model() {
  Model model;
  model.opsets[""] = 17;
  model.graph.name = "small";
  model.graph.nodes = {named("relu", make_node("Relu", {"X"}, {"r"})),
                       named("", make_node("Add", {"r", "w"}, {"Y"}))};
  model.graph.nodes[0].metadata.add("pkg.torch.onnx.stack_trace", std::string(5000, 'x') + "END");
  model.graph.nodes[1].attributes = {attribute("axis", 1), attribute("mode", "linear")};
  model.graph.initializers = {{"w", make_scalar(ElementType::f32, 2)}};
  model.graph.inputs = {{"X", ValueType::tensor(ElementType::f32)}};
  model.graph.outputs = {{"Y", ValueType::tensor(ElementType::f32)}};
  return model;
}

Tensor pair_of(double a, double b) {
  const std::vector<double> values{a, b};
  return make_tensor(ElementType::f32, {1, 2}, values);
}

Comparison small_comparison() {
  Comparison comparison;
  BackendRecord reference{"reference", "reference", "1"}, planted{"planted", "planted", "1"};
  Judgement inside, outside;
  inside.layer = "relu";
  inside.output = "r";
  inside.inside = true;
  outside.layer = outside.output = "Y";
  outside.excess = 1e6;
  outside.verdict = Verdict::defect;
  outside.difference = 5;
  planted.judged = {inside, outside};
  comparison.backends = {reference, planted};
  PairRow bound;
  bound.a = "reference";
  bound.b = "planted";
  bound.metric = "bound";
  comparison.pairs = {bound};
  ComparisonFinding finding;
  finding.kind = "inconsistency";
  finding.backend = "planted";
  finding.node = "Y";
  comparison.findings = {finding};
  return comparison;
}

// What the two backends show, the inner value before the output.
ShownValues small_values() {
  ShownValues values(2);
  const NamedValues inner{{"r", Value(pair_of(1, 2))}}, right{{"Y", Value(pair_of(3, 4))}},
      wrong{{"Y", Value(pair_of(3, 9))}};
  values.add({&inner, &inner});
  values.add({&right, &wrong});
  return values;
}

Json map_of(const Model& model, const Comparison& comparison, Json document = Json::object(),
            const ShownValues& values = small_values()) {
  add_comparison_map({model, "small.onnx", comparison, values}, document);
  return document;
}

TEST(ComparisonMap, ShowsEveryNodeWithItsValues) {
  const Json document = map_of(small_model(), small_comparison());
  EXPECT_EQ(document.at("schema"), kReportSchema);
  EXPECT_EQ(document.at("model").at("nodes"), 2);
  EXPECT_EQ(document.at("model").at("parameters"), 1);
  const Json& nodes = document.at("map").at("nodes");
  ASSERT_EQ(nodes.size(), 2U);
  const Json& add = nodes[1];
  EXPECT_EQ(add.at("op"), "Add");
  EXPECT_EQ(add.at("inputs")[0].at("node"), 0);
  EXPECT_EQ(add.at("inputs")[1].at("parameter"), "f32[]");
  EXPECT_EQ(add.at("attributes"), Json::array({{"axis", "1"}, {"mode", "'linear'"}}));
  const Json& output = add.at("outputs")[0];
  EXPECT_EQ(output.at("type"), "f32[1,2]");
  EXPECT_EQ(output.at("values")[1].at("max"), 9);
  EXPECT_EQ(output.at("values")[1].at("mean"), 6);
  EXPECT_EQ(output.at("values")[0].at("nan"), 0);
  EXPECT_EQ(output.at("judged")[0].at("verdict"), "defect");
  EXPECT_EQ(output.at("images")[0].at("cells"), "09");
  EXPECT_EQ(document.at("map").at("findings"), Json::array({1}));
}

TEST(ComparisonMap, HasNoImageWhereNothingDiffers) {
  const Json document = map_of(small_model(), small_comparison());
  const Json& relu = document.at("map").at("nodes")[0].at("outputs")[0];
  EXPECT_FALSE(relu.contains("images"));
  EXPECT_EQ(relu.at("judged")[0].at("verdict"), "precision");
}

TEST(ComparisonMap, KeepsTheEndOfALongStackTrace) {
  const Json document = map_of(small_model(), small_comparison());
  const std::string text = document.at("map").at("texts")[0];
  EXPECT_LE(text.size(), 3000U);
  EXPECT_TRUE(text.ends_with("END"));
}

TEST(ComparisonMap, TakesTheRatesOfTheDocument) {
  const Json layer = {{"name", "relu"},
                      {"class", "Relu"},
                      {"delta", 0.5},
                      {"rate", "Infinity"},
                      {"highlighted", true}};
  const Json localisation = {
      {{"pair", {"reference", "planted"}}, {"layers", Json::array({layer})}}};
  const Json document = map_of(small_model(), small_comparison(), {{"localisation", localisation}});
  const Json& rate = document.at("map").at("nodes")[0].at("rates").at(0);
  EXPECT_EQ(rate.at("pair"), 0);
  EXPECT_EQ(rate.at("delta"), 0.5);
  EXPECT_EQ(rate.at("highlighted"), true);
}

TEST(ComparisonMap, CutsNamesThatAreVeryLong) {
  Model model = small_model();
  model.graph.nodes[0].name = std::string(1'000'000, 'n');
  model.graph.nodes[0].outputs[0] = model.graph.nodes[1].inputs[0] = std::string(1'000'000, 'v');
  const Json document = map_of(model, small_comparison());
  EXPECT_LT(document.dump().size(), 20'000U);
  EXPECT_EQ(document.at("map").at("nodes")[1].at("inputs")[0].at("node"), 0);
}

TEST(ComparisonMap, StaysSmallAtTwoThousandNodes) {
  Model model = small_model();
  NamedValues left, right;
  model.graph.nodes.clear();
  const std::vector<double> zeros(std::size_t{100} * 100, 0), ones(zeros.size(), 1);
  const Value zero(make_tensor(ElementType::f32, {100, 100}, zeros));
  const Value one(make_tensor(ElementType::f32, {100, 100}, ones));
  for (int i = 0; i < 2000; ++i) {
    const std::string output = "v" + std::to_string(i);
    model.graph.nodes.push_back(named(output + "_node", make_node("Relu", {"X"}, {output})));
    left.emplace_back(output, zero);
    right.emplace_back(output, one);
  }
  ShownValues values(2);
  values.add({&left, &right});
  const Json document = map_of(model, small_comparison(), Json::object(), values);
  EXPECT_LT(document.dump().size(), 4'000'000U);
  EXPECT_TRUE(document.at("map").at("nodes")[1999].at("outputs")[0].contains("images"));
}

}  // namespace
}  // namespace assay

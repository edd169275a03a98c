#include "localize/rate.h"

#include <cmath>

#include <gtest/gtest.h>

namespace assay {
namespace {

Graph chain(int length) {
  Graph graph;
  for (int i = 0; i < length; ++i) {
    Node node;
    node.op = "Relu";
    node.name = "n" + std::to_string(i);
    node.inputs = {"v" + std::to_string(i)};
    node.outputs = {"v" + std::to_string(i + 1)};
    graph.nodes.push_back(std::move(node));
  }
  return graph;
}

NamedValues values(const std::vector<double>& each) {
  NamedValues found;
  for (std::size_t i = 0; i < each.size(); ++i) {
    found.emplace_back("v" + std::to_string(i + 1), make_scalar(ElementType::f32, each[i]));
  }
  return found;
}

std::vector<LayerRate> map_of(const Graph& graph, const NamedValues& a, const NamedValues& b) {
  Deltas deltas;
  deltas.add(a, b);
  return rate_map(graph, deltas);
}

TEST(RateMap, HighlightsWhereTheDifferenceBegins) {
  const auto layers = map_of(chain(5), values({1, 1, 1, 1, 1}), values({1, 1, 2, 2, 2}));
  ASSERT_EQ(layers.size(), 5U);
  EXPECT_EQ(layers[2].name, "n2");
  EXPECT_DOUBLE_EQ(layers[2].delta, 1);
  EXPECT_NEAR(layers[2].rate, 1e7, 1);  // one over epsilon
  EXPECT_EQ(layers[3].rate, 0);
  for (const LayerRate& layer : layers) EXPECT_EQ(layer.highlighted, layer.name == "n2");
}

TEST(RateMap, WhatIsNotShownPassesOnWhatFedIt) {
  NamedValues a = values({1, 1, 1}), b = values({3, 3, 3});
  b.erase(b.begin() + 1);
  const auto layers = map_of(chain(3), a, b);
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_EQ(layers[1].name, "n2");
  EXPECT_EQ(layers[1].rate, 0);
}

TEST(RateMap, AnotherShapeIsInfinitelyFar) {
  NamedValues a = values({1}), b;
  b.emplace_back("v1", make_tensor(ElementType::f32, {2}, {{1, 1}}));
  EXPECT_TRUE(std::isinf(map_of(chain(1), a, b)[0].delta));
}

TEST(PairMaps, AreTheSameWhateverIsShownAtATime) {
  const NamedValues a = values({1, 1, 1, 1}), b = values({1, 2, 2, 4});
  PairMaps whole({"a", "b", "c"}), parts({"a", "b", "c"});
  whole.add({&a, &b, nullptr});
  for (std::size_t i = 0; i < a.size(); ++i) {
    const NamedValues left{a[i]}, right{b[i]};
    parts.add({&left, &right, nullptr});
  }
  ASSERT_EQ(whole.finish(chain(4)).size(), 1U);
  const std::vector<LayerRate> first = whole.finish(chain(4))[0].layers;
  const std::vector<LayerRate> second = parts.finish(chain(4))[0].layers;
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].rate, second[i].rate);
}

}  // namespace
}  // namespace assay

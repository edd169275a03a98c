// The smallest segment, on optimisers whose fusions are known.
#include "localize/segments.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace assay {
namespace {

using Positions = std::vector<std::size_t>;

// v0 -> n0 -> v1 -> n1 -> … ; every node is named by its position.
Model chain(std::size_t length, ValuesByName& values) {
  Model model;
  model.opsets[""] = 21;
  const ValueType real = ValueType::tensor(ElementType::f32, {});
  model.graph.inputs = {{"v0", real}};
  model.graph.outputs = {{"v" + std::to_string(length), real}};
  for (std::size_t i = 0; i <= length; ++i) {
    values["v" + std::to_string(i)] = make_scalar(ElementType::f32, 1);
    if (i == length) break;
    Node node;
    node.op = "Relu";
    node.name = std::to_string(i);
    node.inputs = {"v" + std::to_string(i)};
    node.outputs = {"v" + std::to_string(i + 1)};
    model.graph.nodes.push_back(std::move(node));
  }
  return model;
}

// An optimiser that errs wherever all of some nodes are in one model.
Positions search(std::size_t length, const Positions& fused, int* trials = nullptr) {
  ValuesByName values;
  const Model model = chain(length, values);
  const auto segment = find_segment(model, values, [&](const Model& part) {
    if (trials) ++*trials;
    return std::all_of(fused.begin(), fused.end(), [&](std::size_t at) {
      return std::any_of(part.graph.nodes.begin(), part.graph.nodes.end(),
                         [&](const Node& node) { return node.name == std::to_string(at); });
    });
  });
  return segment ? segment->nodes : Positions{};
}

TEST(Segments, TwoNodesThatAreFused) { EXPECT_EQ(search(10, {4, 5}), (Positions{4, 5})); }

TEST(Segments, AtEitherEnd) {
  EXPECT_EQ(search(7, {0, 1}), (Positions{0, 1}));
  EXPECT_EQ(search(7, {5, 6}), (Positions{5, 6}));
  EXPECT_EQ(search(1, {0}), Positions{0});
}

TEST(Segments, NodesBetweenThemAreSpared) {
  EXPECT_EQ(search(30, {3, 9, 20}), (Positions{3, 9, 20}));
}

TEST(Segments, ALongModelTakesFewTrials) {
  int trials = 0;
  EXPECT_EQ(search(1000, {511, 512}, &trials), (Positions{511, 512}));
  EXPECT_LE(trials, 30);
}

TEST(Segments, NoneWhereTheWholeIsRight) { EXPECT_TRUE(search(5, {7}).empty()); }

}  // namespace
}  // namespace assay

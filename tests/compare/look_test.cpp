#include "compare/look.h"

#include <gtest/gtest.h>

#include "compare/judge.h"

namespace assay {
namespace {

// x → Neg → v1 → Neg → v2 → …, whose last node also reads v1.
Model chain(int length) {
  Model model;
  model.ir_version = 10;
  model.opsets[""] = 22;
  ValueType type;
  type.element = ElementType::f32;
  type.dims = std::vector<Dim>{Dim(2)};
  model.graph.inputs.push_back({"v0", type, {}, {}});
  for (int i = 0; i < length; ++i) {
    Node node;
    node.op = i + 1 == length ? "Add" : "Neg";
    node.inputs = {"v" + std::to_string(i)};
    if (node.op == "Add") node.inputs.push_back("v1");
    node.outputs = {"v" + std::to_string(i + 1)};
    model.graph.nodes.push_back(std::move(node));
  }
  model.graph.outputs.push_back({"v" + std::to_string(length), type, {}, {}});
  return model;
}

TEST(Looks, OneIsEnoughForWhatFits) {
  const Model model = chain(4);
  const std::vector<Look> looks = plan_looks(model.graph, {8, 8, 8, 8}, 32);
  ASSERT_EQ(looks.size(), 1U);
  EXPECT_EQ(looks[0].last, 4U);
  EXPECT_TRUE(looks[0].watched.empty());
}

TEST(Looks, CoverEveryNodeOnceWithWhatItReads) {
  const Model model = chain(5);
  const std::vector<Look> looks = plan_looks(model.graph, {8, 8, 100, 8, 8}, 16);
  ASSERT_EQ(looks.size(), 3U);
  EXPECT_EQ(looks[0].last, looks[1].first);
  EXPECT_EQ(looks[1].last - looks[1].first, 1U);  // it takes too much alone
  EXPECT_EQ(looks[2].last, 5U);
  const std::vector<std::string>& read = looks[2].watched;
  EXPECT_NE(std::find(read.begin(), read.end(), "v1"), read.end());
  EXPECT_NE(std::find(read.begin(), read.end(), "v3"), read.end());
  EXPECT_EQ(std::find(read.begin(), read.end(), "v2"), read.end());
}

TEST(Looks, EvaluateWhatABackendDoesNotShow) {
  const Model model = chain(5);
  const Look look{4, 5, {}};
  const Tensor value = make_tensor(ElementType::f32, {2}, {{1, 2}});
  const std::vector<bool> shown = nodes_to_judge(model.graph, look, {{"v4", value}, {"v1", value}});
  EXPECT_EQ(shown, (std::vector<bool>{false, false, false, false, true}));
  const std::vector<bool> folded = nodes_to_judge(model.graph, look, {{"v1", value}});
  EXPECT_EQ(folded, (std::vector<bool>{false, true, true, true, true}));
}

TEST(Looks, JudgeTheSameAsAllAtOnce) {
  const auto model = std::make_shared<const Model>(chain(5));
  const auto evaluator = Evaluator::make(model);
  ASSERT_TRUE(evaluator);
  std::map<std::string, Tensor> recorded;
  const std::vector<Value> inputs{make_tensor(ElementType::f32, {2}, {{1, 2}})};
  for (int i = 1; i <= 5; ++i) {
    // The third is wrong, and what follows it right by what it reads.
    const double first = i == 5 ? 0 : i % 2 == 0 ? 1 : -1;
    const double second = i == 3 ? 7 : i == 4 ? -7 : i == 5 ? -9 : first * 2;
    recorded.emplace("v" + std::to_string(i),
                     make_tensor(ElementType::f32, {2}, {{first, second}}));
  }
  const auto whole = judge(**evaluator, inputs, recorded, 0);
  ASSERT_TRUE(whole);
  std::vector<Judgement> parts;
  for (const Look& look : plan_looks(model->graph, {8, 8, 8, 8, 8}, 8)) {
    std::map<std::string, Tensor> shown;
    for (const std::string& name : look.watched) {
      if (recorded.contains(name)) shown.emplace(name, recorded.at(name));
    }
    const std::vector<bool> only = nodes_to_judge(model->graph, look, shown);
    const auto judged = judge(**evaluator, inputs, shown, 0, nullptr, &only);
    ASSERT_TRUE(judged);
    parts.insert(parts.end(), judged->begin(), judged->end());
  }
  ASSERT_EQ(parts.size(), whole->size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ(parts[i].output, (*whole)[i].output);
    EXPECT_EQ(parts[i].inside, (*whole)[i].inside);
    EXPECT_EQ(parts[i].inside, i != 2);
  }
}

}  // namespace
}  // namespace assay

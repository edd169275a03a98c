#include "compare/criteria.h"

#include <gtest/gtest.h>

#include "compare/model_parts.h"

namespace assay {
namespace {

Graph two_outputs() {
  Graph graph;
  graph.outputs.push_back({"probs", {}});
  graph.outputs.push_back({"a=b", {}});
  return graph;
}

TEST(Criteria, AreReadForAllOutputsOrForOne) {
  const auto criteria = read_criteria(two_outputs(), {"1e-3", "a=b=1e-2"}, {}, {"probs=l2", "mad"});
  ASSERT_TRUE(criteria);
  EXPECT_EQ(criteria->relative.at(""), 1e-3);
  EXPECT_EQ(criteria->relative.at("a=b"), 1e-2);
  EXPECT_EQ(criteria->metrics.at("probs"), std::vector{Metric::l2});
  EXPECT_EQ(criteria->metrics.at(""), std::vector{Metric::mad});
  EXPECT_TRUE(criteria->tolerates("probs"));
}

TEST(Criteria, NameWhatTheyDoNotKnow) {
  for (const char* text : {"nobody=1", "probs=-1", "probs=", "one", "nan", "inf"}) {
    const auto criteria = read_criteria(two_outputs(), {}, {text}, {});
    ASSERT_FALSE(criteria) << text;
    EXPECT_EQ(criteria.error().kind, "usage");
  }
  EXPECT_FALSE(read_criteria(two_outputs(), {}, {}, {"euclid"}));
  EXPECT_FALSE(read_criteria(two_outputs(), {}, {}, {"nobody=l2"}));
}

TEST(Criteria, TakeThePlaceOfTheBound) {
  const Graph graph = two_outputs();
  std::vector<Spread> spreads(2);
  for (Spread& spread : spreads) {
    spread.value = make_tensor(ElementType::f32, {2}, {{10, 0}});
    spread.allowance = {1e-6, 1e-6};
  }
  const auto criteria = read_criteria(graph, {"probs=0.1"}, {"probs=0.5"}, {});
  ASSERT_TRUE(criteria);
  apply(*criteria, graph, spreads);
  EXPECT_EQ(spreads[0].allowance, (std::vector<double>{1.5, 0.5}));
  EXPECT_TRUE(spreads[0].given);
  EXPECT_EQ(spreads[1].allowance, (std::vector<double>{1e-6, 1e-6}));
  EXPECT_FALSE(spreads[1].given);
  EXPECT_LT(spreads[0].excess(make_tensor(ElementType::f32, {2}, {{11, 0}})), 1);
  EXPECT_GT(spreads[1].excess(make_tensor(ElementType::f32, {2}, {{11, 0}})), 1);
}

}  // namespace
}  // namespace assay

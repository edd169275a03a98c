// Mel filters whose edges lie beyond every bin: an answer comes, and holds what the value gives.
#include <gtest/gtest.h>

#include "graph/make_node.h"
#include "patterns/array.h"
#include "semantics/evaluator.h"

namespace assay {
namespace {

TEST(MelFilters, EndAlsoWhereEdgesAreFarAway) {
  const Node node = make_node("MelWeightMatrix", {"n", "length", "rate", "low", "high"}, {"y"});
  const auto inputs_at = [](const Value& low, const Value& high) {
    return std::vector<Value>{make_scalar(ElementType::i64, 3), make_scalar(ElementType::i64, 16),
                              make_scalar(ElementType::i64, 8192), low, high};
  };
  const Value point = make_scalar(ElementType::f32, 4096);
  const Value range = Value::ranges(ElementType::f32, {}, {Interval{4096, 1e38, false}});
  const Value far = Value::ranges(ElementType::f32, {}, {Interval{1e37, 1e38, false}});
  const auto value =
      evaluate_node(node, 17, inputs_at(make_scalar(ElementType::f32, 0), point), Reading::value);
  const auto ranges = evaluate_node(node, 17, inputs_at(make_scalar(ElementType::f32, 0), range),
                                    Reading::interval);
  ASSERT_TRUE(value) << value.error().message;
  ASSERT_TRUE(ranges) << ranges.error().message;
  EXPECT_TRUE(evaluate_node(node, 17, inputs_at(far, far), Reading::interval));
  const std::vector<double> elements = value->front().tensor().reals();
  const std::vector<Interval> all = load<Interval>(ranges->front()).data;
  for (std::size_t i = 0; i < elements.size(); ++i)
    EXPECT_TRUE(all[i].contains(elements[i])) << i << ": " << elements[i];
}

}  // namespace
}  // namespace assay

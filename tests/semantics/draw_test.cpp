#include "semantics/draw.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Draw, FloatsLieInTheUnitInterval) {
  for (ElementType type :
       {ElementType::f64, ElementType::f32, ElementType::f16, ElementType::bf16}) {
    const Result<Value> drawn = draw("x", ValueType::tensor(type, {1000}), {});
    ASSERT_TRUE(drawn.has_value());
    const std::vector<double> values = drawn->tensor().reals();
    EXPECT_GE(*std::min_element(values.begin(), values.end()), 0.0);
    EXPECT_LT(*std::max_element(values.begin(), values.end()), 1.0);
    EXPECT_GT(*std::max_element(values.begin(), values.end()), 0.9);
  }
}

TEST(Draw, DependsOnSeedAndName) {
  const ValueType type = ValueType::tensor(ElementType::f32, {4});
  const auto values = [&](const std::string& name, std::uint64_t seed) {
    return draw(name, type, {seed, {}})->tensor().reals();
  };
  EXPECT_EQ(values("x", 1), values("x", 1));
  EXPECT_NE(values("x", 1), values("x", 2));
  EXPECT_NE(values("x", 1), values("y", 1));
}

TEST(Draw, FillsInExtents) {
  const ValueType type =
      ValueType::tensor(ElementType::i64, {Dim::named("batch"), Dim::named("n"), Dim(), 2});
  const Result<Value> drawn = draw("x", type, {0, {{"n", 5}}});
  ASSERT_TRUE(drawn.has_value());
  EXPECT_EQ(drawn->shape(), (Shape{1, 5, 1, 2}));
  for (std::int64_t value : drawn->tensor().integers()) EXPECT_TRUE(value == 0 || value == 1);
}

TEST(Draw, RefusesWhatHasNoRank) {
  EXPECT_FALSE(draw("x", ValueType::tensor(ElementType::f32), {}).has_value());
  EXPECT_FALSE(draw("x", ValueType::sequence(ValueType::tensor(ElementType::f32)), {}).has_value());
}

}  // namespace
}  // namespace assay

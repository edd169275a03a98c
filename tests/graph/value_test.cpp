// Values of every kind and what they say about themselves.
#include "graph/value.h"

#include <array>

#include <gtest/gtest.h>

namespace assay {
namespace {

Tensor pair_of(double a, double b) { return make_tensor(ElementType::f32, {2}, std::array{a, b}); }

TEST(Value, WithoutContentIsAnAbsentInput) {
  const Value value;
  EXPECT_FALSE(value.present());
  EXPECT_EQ(value.kind(), Value::Kind::absent);
  EXPECT_TRUE(Value::unknown().present());
}

TEST(Value, OfATensorIsExact) {
  const Value value = pair_of(1, 2);
  EXPECT_TRUE(value.is_tensor());
  EXPECT_TRUE(value.exact());
  EXPECT_EQ(to_text(value.value_type()), "f32[2]");
}

TEST(Value, KeepsErrorsAndRangesWhenReshaped) {
  const Value bounded = Value::bounded(pair_of(1, 2), {0.5, 0}).reshaped({2, 1});
  EXPECT_EQ(bounded.shape(), Shape({2, 1}));
  ASSERT_NE(bounded.errors(), nullptr);
  EXPECT_EQ((*bounded.errors())[0], 0.5);
  EXPECT_FALSE(bounded.exact());

  const Value ranges =
      Value::ranges(ElementType::f16, {2}, {{0, 1, false}, {2, 3, true}}).reshaped({1, 2});
  EXPECT_EQ(ranges.type(), ElementType::f16);
  EXPECT_EQ(ranges.shape(), Shape({1, 2}));
  ASSERT_NE(ranges.intervals(), nullptr);
  EXPECT_EQ(ranges.intervals()->at(1).high, 3);
  EXPECT_FALSE(ranges.exact());
}

TEST(Value, RefusesASpreadOfAnotherSize) {
  EXPECT_THROW(Value::bounded(pair_of(1, 2), {0.5}), Defect);
  EXPECT_THROW(Value::ranges(ElementType::f32, {2}, {{0, 1, false}}), Defect);
}

TEST(Value, WithoutElementsIsExact) {
  EXPECT_TRUE(Value::bounded(Tensor(ElementType::f32, {0, 2}), {}).exact());
  EXPECT_TRUE(Value::ranges(ElementType::f32, {2, 0}, {}).exact());
}

TEST(Value, ContainersKnowTheirTypes) {
  const ValueType element = ValueType::tensor(ElementType::f32);
  const Value list = Value::sequence(element, {pair_of(1, 2)});
  EXPECT_EQ(to_text(list.value_type()), "seq(f32)");
  EXPECT_EQ(list.elements().size(), 1U);

  EXPECT_EQ(to_text(Value::optional(element).value_type()), "opt(f32)");
  EXPECT_TRUE(Value::optional(element).elements().empty());
  EXPECT_EQ(to_text(Value::optional(Value(pair_of(1, 2))).value_type()), "opt(f32[2])");

  const Value map = Value::map(make_strings({2}, {"a", "b"}), pair_of(3, 4));
  EXPECT_EQ(to_text(map.value_type()), "map(string,f32[])");
  EXPECT_EQ(map.keys().data<std::string>()[1], "b");
  EXPECT_EQ(map.mapped().real(0), 3);
  EXPECT_THROW(Value::map(make_strings({1}, {"a"}), pair_of(3, 4)), Defect);
}

}  // namespace
}  // namespace assay

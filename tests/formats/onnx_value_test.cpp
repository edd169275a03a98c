// Test data of ONNX backend tests.
#include "formats/onnx_value.h"

#include <array>

#include "formats/wire.h"
#include "support.h"

namespace assay {
namespace {

const ValueType kFloats = ValueType::tensor(ElementType::f32);

Tensor floats(std::initializer_list<double> values) {
  return make_tensor(ElementType::f32, {static_cast<std::int64_t>(values.size())},
                     std::vector<double>(values));
}

Value read(const std::string& bytes, const ValueType& type) {
  auto value = parse_test_value(bytes, type, "input_0.pb");
  EXPECT_TRUE(value.has_value()) << value.error().message;
  return value.has_value() ? *value : Value();
}

std::string failure(const std::string& bytes, const ValueType& type) {
  const auto value = parse_test_value(bytes, type, "input_0.pb");
  if (value.has_value()) return "accepted";
  EXPECT_TRUE(has(value.error().message, "input_0.pb: "));
  return value.error().message;
}

TEST(TestValues, AreTensors) {
  const std::string bytes = to_test_bytes(floats({1, 2}), "x");
  EXPECT_TRUE(identical(read(bytes, kFloats).tensor(), floats({1, 2})));
  EXPECT_TRUE(identical(read(bytes, {}).tensor(), floats({1, 2})));  // of a type that nobody knows
  EXPECT_TRUE(has(failure(bytes, ValueType::tensor(ElementType::i64)), "a i64 tensor is expected"));
}

TEST(TestValues, AreSequences) {
  const ValueType type = ValueType::sequence(kFloats);
  const Value value = Value::sequence(kFloats, {floats({1, 2}), floats({3})});
  const Value again = read(to_test_bytes(value, "s"), type);
  ASSERT_EQ(again.elements().size(), 2U);
  EXPECT_TRUE(identical(again.elements()[1].tensor(), floats({3})));
  EXPECT_EQ(to_text(again.value_type()), "seq(f32)");
  const Value empty = read(to_test_bytes(Value::sequence(kFloats, {}), "s"), type);
  EXPECT_TRUE(empty.elements().empty());
}

TEST(TestValues, AreOptionals) {
  const ValueType type = ValueType::optional(kFloats);
  const Value full = read(to_test_bytes(Value::optional(Value(floats({5}))), "o"), type);
  ASSERT_EQ(full.elements().size(), 1U);
  EXPECT_TRUE(identical(full.elements()[0].tensor(), floats({5})));
  EXPECT_TRUE(read(to_test_bytes(Value::optional(kFloats), "o"), type).elements().empty());
  const ValueType list = ValueType::sequence(kFloats);
  const Value nested = Value::optional(Value::sequence(kFloats, {floats({7})}));
  const Value again = read(to_test_bytes(nested, "o"), ValueType::optional(list));
  EXPECT_EQ(again.elements()[0].elements()[0].tensor().real(0), 7);
}

TEST(TestValues, AreMaps) {
  const ValueType by_text = ValueType::map(ElementType::string, kFloats);
  const Value texts = Value::map(make_strings({2}, {"a", "b"}), floats({1, 2}));
  const Value again = read(to_test_bytes(texts, "m"), by_text);
  EXPECT_TRUE(identical(again.keys(), texts.keys()));
  EXPECT_TRUE(identical(again.mapped(), texts.mapped()));
  const Value numbers = Value::map(
      make_integers(ElementType::i64, {2}, std::array<std::int64_t, 2>{-1, 7}), floats({1, 2}));
  const Value read_numbers =
      read(to_test_bytes(numbers, "m"), ValueType::map(ElementType::i64, kFloats));
  EXPECT_TRUE(identical(read_numbers.keys(), numbers.keys()));
}

TEST(TestValues, ThatAreBrokenAreRefused) {
  const std::string sequence =
      to_test_bytes(Value::sequence(kFloats, {floats({1, 2}), floats({3})}), "s");
  const ValueType list = ValueType::sequence(kFloats);
  EXPECT_TRUE(has(failure(sequence, ValueType::sequence(list)), "a value of type seq(f32) is"));
  EXPECT_TRUE(
      has(failure(sequence.substr(0, sequence.size() - 1), list), "not a whole test value"));
  EXPECT_TRUE(has(failure("\xff\xff", kFloats), "not a TensorProto"));
  EXPECT_TRUE(has(failure("", kFloats), "no element type 0"));
  std::string map = to_test_bytes(Value::map(make_strings({1}, {"a"}), floats({1})), "m");
  put_bytes(map, 4, "b");  // one more key
  EXPECT_TRUE(has(failure(map, ValueType::map(ElementType::string, kFloats)),
                  "a map has 2 keys and 1 values"));
  std::string deep;
  ValueType type = kFloats;
  for (int i = 0; i < 100; ++i) {
    std::string outer;
    put_bytes(outer, 5, deep);
    deep = outer;
    type = ValueType::sequence(type);
  }
  EXPECT_TRUE(has(failure(deep, type), "nested too deeply"));
}

TEST(TestValues, NameTheFileThatIsNotThere) {
  const auto value = read_test_value("/nonexistent/input_0.pb", kFloats);
  ASSERT_FALSE(value.has_value());
  EXPECT_EQ(value.error().kind, "missing");
  EXPECT_TRUE(has(value.error().message, "/nonexistent/input_0.pb"));
}

}  // namespace
}  // namespace assay

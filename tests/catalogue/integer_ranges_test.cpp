// Ranges and errors of integers: what an operator gives for a number inside of them lies inside of
// what it gives for them. The corpus widens real inputs only.
#include <random>

#include <gtest/gtest.h>

#include "patterns/array.h"
#include "semantics/evaluator.h"

namespace assay {
namespace {

constexpr std::int64_t kCount = 400;  // elements of each input

struct Subject {
  const char* op;
  std::size_t inputs;
  std::vector<ElementType> types;
  std::vector<Attribute> attributes{};
};

std::vector<Subject> subjects() {
  using enum ElementType;
  const std::vector<ElementType> narrow = {i8, u8}, is_signed = {i8}, wide = {i32, u32};
  return {{"Abs", 1, narrow},
          {"Neg", 1, is_signed},
          {"Sign", 1, narrow},
          {"Relu", 1, is_signed},
          {"Shrink", 1, narrow, {attribute("lambd", 3.5), attribute("bias", 1.5)}},
          {"BitwiseNot", 1, narrow},
          {"Add", 2, narrow},
          {"Sub", 2, narrow},
          {"Mul", 2, narrow},
          {"Div", 2, narrow},
          {"Mod", 2, narrow},
          {"Mod", 2, narrow, {attribute("fmod", 1)}},
          {"Pow", 2, {i32}},
          {"PRelu", 2, wide},
          {"Max", 2, narrow},
          {"Min", 3, narrow},
          {"BitwiseAnd", 2, narrow},
          {"BitwiseOr", 2, narrow},
          {"BitwiseXor", 2, narrow},
          {"BitShift", 2, narrow, {attribute("direction", "LEFT")}},
          {"BitShift", 2, narrow, {attribute("direction", "RIGHT")}},
          {"Equal", 2, narrow},
          {"Less", 2, narrow},
          {"LessOrEqual", 2, narrow},
          {"Greater", 2, narrow},
          {"GreaterOrEqual", 2, narrow}};
}

// One input three ways: numbers, ranges that hold them, and other numbers with errors that reach
// them.
struct Drawn {
  Value numbers, ranges, bounded;
};

Drawn draw(ElementType type, std::mt19937_64& random) {
  const std::int64_t least = domain_of(type) == Domain::signed_integer ? -128 : 0;
  const std::int64_t most = least == 0 ? 255 : 127;
  std::uniform_int_distribution<std::int64_t> any(least, most), near(-9, 9), width(0, 5);
  std::vector<std::int64_t> numbers, centers;
  std::vector<Interval> ranges;
  std::vector<double> errors;
  for (std::int64_t i = 0; i < kCount; ++i) {
    const std::int64_t x = std::clamp(i % 2 == 0 ? any(random) : near(random), least, most);
    const std::int64_t low = std::max(x - width(random), least);
    const std::int64_t high = std::min(x + width(random), most);
    numbers.push_back(x);
    ranges.push_back({static_cast<double>(low), static_cast<double>(high), false});
    centers.push_back(low);
    errors.push_back(static_cast<double>(x - low));
  }
  return {make_integers(type, {kCount}, numbers), Value::ranges(type, {kCount}, std::move(ranges)),
          Value::bounded(make_integers(type, {kCount}, centers), errors)};
}

TEST(IntegerRanges, HoldWhatTheNumbersInsideOfThemGive) {
  std::mt19937_64 random(11);
  for (const Subject& subject : subjects())
    for (ElementType type : subject.types) {
      Node node;
      node.op = subject.op;
      node.attributes = subject.attributes;
      node.outputs = {"y"};
      std::vector<Value> numbers, ranges, bounded;
      for (std::size_t i = 0; i < subject.inputs; ++i) {
        node.inputs.push_back(std::string(1, static_cast<char>('a' + i)));
        Drawn drawn = draw(type, random);
        numbers.push_back(std::move(drawn.numbers));
        ranges.push_back(std::move(drawn.ranges));
        bounded.push_back(std::move(drawn.bounded));
      }
      const auto y = evaluate_node(node, 1000, numbers, Reading::value);
      const auto range = evaluate_node(node, 1000, ranges, Reading::interval);
      const auto bound = evaluate_node(node, 1000, bounded, Reading::bounded);
      ASSERT_TRUE(y && range && bound) << subject.op;
      const std::vector<double> values = y->front().tensor().reals();
      const std::vector<Interval> intervals = load<Interval>(range->front()).data;
      const std::vector<Bounded> bounds = load<Bounded>(bound->front()).data;
      for (std::size_t i = 0; i < values.size(); ++i) {
        EXPECT_TRUE(intervals[i].contains(values[i]))
            << subject.op << " " << short_name(type) << " " << i << ": " << values[i] << " not in ["
            << intervals[i].low << ", " << intervals[i].high << "]";
        EXPECT_TRUE(bounds[i].contains(values[i]))
            << subject.op << " " << short_name(type) << " " << i << ": " << values[i] << " not in "
            << bounds[i].value << " +- " << bounds[i].error;
      }
    }
}

}  // namespace
}  // namespace assay

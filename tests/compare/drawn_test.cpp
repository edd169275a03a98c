// Draws of another generator than the reference's: honest ones pass, wrong ones do not.
#include "compare/drawn.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "compare/model_parts.h"

namespace assay {
namespace {

constexpr std::int64_t kRows = 12, kColumns = 40;

std::vector<double> ramp(double from, double step) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < kRows * kColumns; ++i)
    values.push_back(from + step * static_cast<double>(i));
  return values;
}

Value matrix(const std::vector<double>& values, ElementType type = ElementType::f32) {
  return make_tensor(type, {kRows, kColumns}, values);
}

// Whether an honest node could have given these outputs.
Agreement judged(Node node, const std::vector<Value>& inputs, const std::vector<Value>& found) {
  const auto evaluator = make_evaluator({std::move(node)}, inputs);
  const PlannedNode& planned = evaluator->plan().nodes.front();
  EXPECT_TRUE(is_drawn(planned, inputs));
  return judge_draw(draw_of(planned, inputs), inputs, found);
}

Node dropout_node() { return make_node("Dropout", {"X0", "X1", "X2"}, {"Y", "mask"}); }

struct Dropped {
  std::vector<double> y, mask;
};

// Dropout of `x` at a rate, one draw for `together` elements.
Dropped drop(const std::vector<double>& x, double rate, double scale, std::size_t together = 1) {
  std::mt19937 engine(17);
  std::bernoulli_distribution dropped(rate);
  Dropped result;
  bool gone = false;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i % together == 0) gone = dropped(engine);
    result.y.push_back(gone ? 0 : x[i] * scale);
    result.mask.push_back(gone ? 0 : 1);
  }
  return result;
}

Agreement judge_dropout(const Dropped& dropped) {
  const std::vector<Value> inputs = {matrix(ramp(1, 0.01)), make_scalar(ElementType::f32, 0.25),
                                     make_scalar(ElementType::boolean, 1)};
  return judged(dropout_node(), inputs,
                {matrix(dropped.y), matrix(dropped.mask, ElementType::boolean)});
}

TEST(Drawn, DropoutOfAnotherGeneratorIsHonest) {
  const Agreement agreement = judge_dropout(drop(ramp(1, 0.01), 0.25, 1 / 0.75));
  EXPECT_TRUE(agreement.agrees) << agreement.detail;
}

TEST(Drawn, DropoutAtAnotherRateIsNot) {
  EXPECT_FALSE(judge_dropout(drop(ramp(1, 0.01), 0.75, 1 / 0.75)).agrees);
}

TEST(Drawn, DropoutThatDoesNotScaleIsNot) {
  const Agreement agreement = judge_dropout(drop(ramp(1, 0.01), 0.25, 1));
  EXPECT_FALSE(agreement.agrees);
  EXPECT_NE(agreement.detail.find("never drawn"), std::string::npos) << agreement.detail;
}

TEST(Drawn, DropoutOfWholeRowsIsNot) {
  EXPECT_FALSE(judge_dropout(drop(ramp(1, 0.01), 0.25, 1 / 0.75, kColumns)).agrees);
}

TEST(Drawn, AMaskMustBelongToItsOutput) {
  Dropped dropped = drop(ramp(1, 0.01), 0.25, 1 / 0.75);
  std::rotate(dropped.mask.begin(), dropped.mask.begin() + 1, dropped.mask.end());
  EXPECT_FALSE(judge_dropout(dropped).agrees);
}

TEST(Drawn, NoiseIsJudgedByItsMoments) {
  std::mt19937 engine(5);
  std::normal_distribution<double> standard;
  std::vector<double> noise, wide, shifted;
  for (std::int64_t i = 0; i < kRows * kColumns; ++i) {
    noise.push_back(standard(engine));
    wide.push_back(noise.back() * 2);
    shifted.push_back(noise.back() + 1);
  }
  const Node node = make_node("RandomNormalLike", {"X0"}, {"Y"});
  const std::vector<Value> inputs = {matrix(ramp(1, 0))};
  EXPECT_TRUE(judged(node, inputs, {matrix(noise)}).agrees);
  EXPECT_FALSE(judged(node, inputs, {matrix(wide)}).agrees);
  EXPECT_FALSE(judged(node, inputs, {matrix(shifted)}).agrees);
  EXPECT_FALSE(judged(node, inputs, {matrix(ramp(std::nan(""), 0))}).agrees);
}

// What has not been drawn yet may still be drawn: an event of one in ten thousand is no alarm.
TEST(Drawn, RareEventsAreNoAlarm) {
  const Node node = make_node("Bernoulli", {"X0"}, {"Y"});
  const std::vector<Value> inputs = {matrix(ramp(1e-4, 0))};
  std::vector<double> once = ramp(0, 0), always = ramp(1, 0);
  once[7] = 1;
  EXPECT_TRUE(judged(node, inputs, {matrix(once)}).agrees);
  EXPECT_FALSE(judged(node, inputs, {matrix(always)}).agrees);
}

TEST(Drawn, ASeedOfTheNodesOwnChangesNothing) {
  Node node = dropout_node();
  node.attributes.push_back(attribute("seed", 3));
  const std::vector<Value> inputs = {matrix(ramp(1, 0.01)), make_scalar(ElementType::f32, 0.25),
                                     make_scalar(ElementType::boolean, 1)};
  const Dropped dropped = drop(ramp(1, 0.01), 0.25, 1 / 0.75);
  EXPECT_TRUE(judged(node, inputs, {matrix(dropped.y), Value()}).agrees);
  EXPECT_FALSE(judged(node, inputs, {make_scalar(ElementType::f32, 1), Value()}).agrees);
}

}  // namespace
}  // namespace assay

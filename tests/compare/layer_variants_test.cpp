// A layer has the variants of the operators in its graph, and its own.
#include <simdjson.h>

#include <gtest/gtest.h>

#include "compare/judge.h"
#include "formats/case_line.h"
#include "layers/keras/layers.h"

namespace assay {
namespace {

// What is said of a value that a backend gave for the only layer of a network.
Judgement judge_layer(const std::string& line, const Shape& shape,
                      const std::vector<double>& found) {
  keras::use_layers();
  const std::string padded = line + std::string(simdjson::SIMDJSON_PADDING, ' ');
  Result<LayerCase> one =
      parse_case_line(std::string_view(padded).substr(0, line.size()), "a test");
  EXPECT_TRUE(one) << one.error().message;
  const std::string name = one->model.graph.outputs.front().name;
  const auto evaluator = Evaluator::make(std::make_shared<const Model>(std::move(one->model)));
  EXPECT_TRUE(evaluator);
  const auto judged =
      judge(**evaluator, one->inputs, {{name, make_tensor(ElementType::f64, shape, found)}}, 1);
  EXPECT_TRUE(judged);
  EXPECT_EQ(judged->size(), 1U);
  return judged->front();
}

std::string pool(const std::string& arguments) {
  return R"({"id":"one","layers":[{"class":"AveragePooling1D","name":"pool","inputs":["x"],"config":{)" +
         arguments +
         R"(}}],"weights":{},"inputs":{"x":[[[1],[1],[4]]]},"model_inputs":["x"],)"
         R"("input_shapes":{"x":[3,1]},"output":"pool"})";
}

TEST(LayerVariants, AreThoseOfItsOperators) {
  const std::string counting = pool(R"("pool_size":3,"strides":1,"padding":"same")");
  const Judgement counted = judge_layer(counting, {1, 3, 1}, {2.0 / 3, 2, 5.0 / 3});
  ASSERT_TRUE(counted.variant);
  EXPECT_EQ(counted.variant->name, "padding-is-counted");
  const std::string moving = pool(R"("pool_size":2,"strides":2,"padding":"same")");
  const Judgement other = judge_layer(moving, {1, 2, 1}, {1, 2.5});
  ASSERT_TRUE(other.variant);
  EXPECT_EQ(other.variant->name, "pads-on-the-other-side");
}

TEST(LayerVariants, ExplainNotEverything) {
  const Judgement wrong =
      judge_layer(pool(R"("pool_size":3,"strides":1,"padding":"same")"), {1, 3, 1}, {1, 2, 3});
  EXPECT_FALSE(wrong.variant);
  EXPECT_EQ(wrong.verdict, Verdict::defect);
}

TEST(LayerVariants, AreItsOwnToo) {
  const std::string relu =
      R"({"id":"one","layers":[{"class":"ReLU","name":"relu","inputs":["x"],)"
      R"("config":{"max_value":1,"threshold":-1,"negative_slope":1}}],"weights":{},)"
      R"("inputs":{"x":[[1.5,-0.5,-1.5]]},"model_inputs":["x"],)"
      R"("input_shapes":{"x":[3]},"output":"relu"})";
  const Judgement clipped = judge_layer(relu, {1, 3}, {1, 0, -0.5});
  ASSERT_TRUE(clipped.variant);
  EXPECT_EQ(clipped.variant->name, "clipped-at-zero");
}

}  // namespace
}  // namespace assay

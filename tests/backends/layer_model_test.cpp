// What workers are handed of a model of layers.
#include "backends/layer_model.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "formats/onnx_import.h"
#include "layers/keras/layers.h"

namespace assay {
namespace {

// y = ELU(x), of any batch.
Model elu() {
  keras::use_layers();
  Model model;
  model.ir_version = 10;
  model.opsets[std::string(keras::kDomain)] = 2;
  Node node;
  node.op = "ELU";
  node.domain = keras::kDomain;
  node.name = "elu";
  node.inputs = {"x"};
  node.outputs = {"y"};
  model.graph.name = "one";
  model.graph.nodes.push_back(std::move(node));
  const ValueType type = ValueType::tensor(ElementType::f32, {Dim::named("batch"), Dim(2)});
  model.graph.inputs.push_back({"x", type, {}, {}});
  model.graph.outputs.push_back({"y", type, {}, {}});
  return model;
}

TEST(LayerModel, IsToldFromOthers) {
  EXPECT_TRUE(has_layers(elu()));
  EXPECT_FALSE(has_layers(Model()));
  EXPECT_TRUE(is_layer_name("keras.Dense"));
  EXPECT_FALSE(is_layer_name("kerasDense"));
  EXPECT_FALSE(is_layer_name("Dense"));
  EXPECT_TRUE(std::ranges::count(layer_names(), "keras.Dense"));
}

TEST(LayerModel, GoesOutAsLayersWithAllArguments) {
  const Result<std::string> bytes = layers_to_onnx(elu());
  ASSERT_TRUE(bytes);
  const Result<Model> sent = parse_onnx(*bytes, "sent");
  ASSERT_TRUE(sent) << sent.error().message;
  const Node& node = sent->graph.nodes.front();
  EXPECT_EQ(node.domain, "keras");
  const AttributeValue* alpha = node.find("alpha");
  ASSERT_TRUE(alpha && std::holds_alternative<Tensor>(*alpha)) << "with all its digits";
  EXPECT_EQ(std::get<Tensor>(*alpha).real(0), 1);
}

TEST(LayerModel, GoesOutAsOperatorsForTheShapesAtHand) {
  const NamedValues inputs = {{"x", make_tensor(ElementType::f32, {3, 2}, std::vector<double>(6))}};
  const Result<std::string> bytes = operators_to_onnx(elu(), inputs);
  ASSERT_TRUE(bytes) << bytes.error().message;
  const Result<Model> sent = parse_onnx(*bytes, "sent");
  ASSERT_TRUE(sent) << sent.error().message;
  EXPECT_FALSE(has_layers(*sent));
  for (const Node& node : sent->graph.nodes) EXPECT_EQ(node.domain, "");
  EXPECT_EQ(sent->graph.nodes.back().outputs.front(), "y");
}

}  // namespace
}  // namespace assay

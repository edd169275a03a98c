// Keras' layers: values that TensorFlow 2.4 gave, and what is said of models that are
// wrong. tests/keras/record.py has recorded the values, with fixed seeds.
#include "layers/keras/layers.h"

#include <fstream>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compare/layer_case.h"
#include "formats/onnx_export.h"
#include "formats/support.h"
#include "keras/one_layer.h"
#include "layers/keras/example.h"
#include "validate/validate.h"

namespace assay {
namespace {

const char* const kRecorded[] = {"tests/keras/keras2.jsonl.gz"};

CaseLines recorded(const std::string& file) {
  Result<CaseLines> lines = read_case_lines(file);
  EXPECT_TRUE(lines) << lines.error().message;
  return *std::move(lines);
}

TEST(KerasLayers, GiveWhatWasRecorded) {
  for (const char* file : kRecorded) {
    const CaseLines lines = recorded(file);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const CaseResult result = run_case_line(lines[i], lines.where(i), 0);
      EXPECT_EQ(result.status, CaseStatus::passed) << result.id << ": " << result.detail;
    }
  }
}

// What the graph computes, whatever it declares of its inputs.
std::string bytes_of(Graph graph) {
  for (NamedType& input : graph.inputs) input.type = {};
  Model model;
  model.ir_version = 10;
  model.graph = std::move(graph);
  return *to_onnx(model);
}

// Plans of layers are kept for all shapes that agree where they were asked for.
TEST(KerasLayers, DependOnNoShapeThatTheyDoNotAskFor) {
  keras::use_layers();
  std::size_t shared = 0;
  for (const keras::Layer& layer : keras::layers()) {
    const auto example = keras::example_of(layer);
    ASSERT_TRUE(example) << layer.name;
    // Layers inside others ask unnoticed: a node that has one is not kept.
    const auto is_graph = [](const Attribute& one) {
      return std::holds_alternative<std::shared_ptr<const Graph>>(one.value);
    };
    if (std::ranges::any_of(example->node.attributes, is_graph)) continue;
    const Lookup found = find_operator(keras::kDomain, layer.name, 3);
    Site site(example->node, found.schema->since_version);
    site.inputs = example->inputs;
    const Composition composition = found.entry->meaning.composition;
    const std::string before = bytes_of(compose(composition, site));
    const std::uint64_t asked = site.shapes_read();
    for (std::size_t i = 0; i < site.inputs.size(); ++i) {
      if ((asked >> i & 1) != 0 || !site.inputs[i].type.dims) continue;
      for (Dim& dim : *site.inputs[i].type.dims) dim = dim + 1;
      ++shared;
    }
    EXPECT_EQ(bytes_of(compose(composition, site)), before) << layer.name;
  }
  EXPECT_GT(shared, 100U);
}

// A recorded model is valid, and its output has the type that is inferred for it.
TEST(KerasLayers, AreValidAsRecorded) {
  for (const char* file : kRecorded) {
    const CaseLines lines = recorded(file);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const Result<LayerCase> one = parse_case_line(lines[i], lines.where(i));
      ASSERT_TRUE(one) << one.error().message;
      const ValidationResult result = validate(one->model);
      EXPECT_TRUE(result.valid()) << one->id << ": " << result.findings.front().message;
    }
  }
}

// What TensorFlow 2.4 has not as layers is held against Keras 3 (tests/python/test_keras_files.py
// and test_keras_layers.py).
TEST(KerasLayers, AreAllRecordedButForThoseThatTensorFlow24HasNotAsLayers) {
  std::set<std::string, std::less<>> seen = {"InputLayer",
                                             "DepthwiseConv1D",
                                             "ConvLSTM1D",
                                             "ConvLSTM3D",
                                             "SimpleRNNCell",
                                             "GRUCell",
                                             "LSTMCell",
                                             "Identity",
                                             "Rescaling",
                                             "EinsumDense",
                                             "GroupNormalization",
                                             "MultiHeadAttention",
                                             "Attention",
                                             "AdditiveAttention",
                                             "RMSNormalization",
                                             "UnitNormalization",
                                             "Bidirectional",
                                             "ActivityRegularization",
                                             "AdaptiveAveragePooling1D",
                                             "AdaptiveAveragePooling2D",
                                             "AdaptiveAveragePooling3D",
                                             "AdaptiveMaxPooling1D",
                                             "AdaptiveMaxPooling2D",
                                             "AdaptiveMaxPooling3D",
                                             "CategoryEncoding",
                                             "CenterCrop",
                                             "Discretization",
                                             "GroupQueryAttention",
                                             "IntegerLookup",
                                             "MelSpectrogram",
                                             "Normalization",
                                             "Resizing",
                                             "ReversibleEmbedding",
                                             "STFTSpectrogram",
                                             "SpectralNormalization",
                                             "StackedRNNCells"};
  for (const char* file : kRecorded) {
    const CaseLines lines = recorded(file);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      seen.insert(parse_case_line(lines[i], lines.where(i))->model.graph.nodes.front().op);
    }
  }
  for (const keras::Layer& layer : keras::layers()) {
    EXPECT_TRUE(seen.contains(layer.name)) << layer.name;
    EXPECT_TRUE(layer.summary.ends_with(".")) << layer.name;
  }
}

TEST(KerasLayers, HaveAnExampleEach) {
  for (const keras::Layer& layer : keras::layers()) {
    const auto example = keras::example_of(layer);
    ASSERT_TRUE(example) << layer.name;
    EXPECT_FALSE(example->graph.nodes.empty()) << layer.name;
  }
}

struct Wrong {
  const char *layer, *config;
  std::vector<std::string> shapes;
  const char *weights, *kind, *rule;
};

class WrongModels : public testing::TestWithParam<Wrong> {};

TEST_P(WrongModels, AreNamedWithTheirReason) {
  const Wrong& wrong = GetParam();
  const Result<LayerCase> one = one_layer(wrong.layer, wrong.config, wrong.shapes, wrong.weights);
  ASSERT_TRUE(one) << one.error().message;
  const ValidationResult result = validate(one->model);
  ASSERT_FALSE(result.valid());
  EXPECT_EQ(result.findings.front().layer, "one");
  EXPECT_EQ(result.findings.front().kind, wrong.kind);
  EXPECT_EQ(result.findings.front().rule, wrong.rule);
  EXPECT_GT(result.findings.front().badness, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, WrongModels,
    testing::Values(
        Wrong{"Conv2D",
              R"({"filters":1,"kernel_size":2})",
              {"[4,3]"},
              "",
              "Dimension Error",
              "Conv2D.rank"},
        Wrong{"MaxPool1D",
              R"({"pool_size":5})",
              {"[4,3]"},
              "",
              "Argument Error",
              "MaxPooling1D.window-fits"},
        Wrong{"Cropping1D",
              R"({"cropping":[2,2]})",
              {"[4,3]"},
              "",
              "Empty Output",
              "Cropping1D.removes-all"},
        Wrong{"Add", "{}", {"[4,3]", "[4,2]"}, "", "Inconsistent Input Shapes", "Add.broadcast"},
        Wrong{"Add", "{}", {"[4,3]", "[2]"}, "", "Inconsistent Input Dimensions", "Add.broadcast"},
        Wrong{"Concatenate",
              "{}",
              {"[4,3]", "[5,3]"},
              "",
              "Inconsistent Input Shapes",
              "Concatenate.same-shape"},
        Wrong{"Concatenate",
              R"({"axis":3})",
              {"[4,3]", "[4,3]"},
              "",
              "Argument Error",
              "Concatenate.axis-range"},
        Wrong{"Dot", R"({"axes":[1,2]})", {"[4,3]", "[4,3]"}, "", "Dot Axis Error", "Dot.axes"},
        Wrong{"Reshape",
              R"({"target_shape":[5]})",
              {"[4,3]"},
              "",
              "Shape Error",
              "Reshape.target_shape"},
        Wrong{"Dense",
              R"({"units":2})",
              {"[3]"},
              "[[[1,2],[3,4]],[0,0]]",
              "Weight Shape Error",
              "Dense.weight-shape"},
        Wrong{"Dense", R"({"units":2})", {"[3]"}, "", "Weight Shape Error", "Dense.weight-missing"},
        Wrong{"Flatten", "{}", {"[3]"}, "[[1]]", "Weight Shape Error", "Flatten.weight-count"},
        Wrong{"Activation",
              R"({"activation":"nothing"})",
              {"[3]"},
              "",
              "Argument Error",
              "Activation.activation"},
        Wrong{"TimeDistributed",
              "{}",
              {"[4,3]"},
              "",
              "Argument Error",
              "TimeDistributed.attribute-required"},
        Wrong{"Discretization",
              R"({"bin_boundaries":[1.0,0.5]})",
              {"[3]"},
              "",
              "Argument Error",
              "Discretization.bin_boundaries"},
        Wrong{"Normalization",
              R"({"mean":[1.0,2.0],"variance":[1.0,2.0]})",
              {"[3]"},
              "",
              "Argument Error",
              "Normalization.statistics"},
        Wrong{"Resizing",
              R"({"height":3,"width":3,"interpolation":"gaussian"})",
              {"[4,4,1]"},
              "",
              "Argument Error",
              "Resizing.choice"},
        Wrong{"SpectralNormalization",
              R"({"layer":{"class_name":"Flatten","config":{}}})",
              {"[4]"},
              "",
              "Argument Error",
              "SpectralNormalization.kernel"},
        Wrong{"RNN",
              R"({"cell":{"class_name":"StackedRNNCells","config":{"cells":[)"
              R"({"class_name":"Dense","config":{"units":2}}]}}})",
              {"[4,3]"},
              "",
              "Argument Error",
              "StackedRNNCells.cells"},
        Wrong{"Dense",
              R"({"units":2,"colour":"red"})",
              {"[3]"},
              "[[[1,2],[3,4],[5,6]],[0,0]]",
              "Argument Error",
              "Dense.attribute-unknown"}));

TEST(CaseLines, ALayerOfPythonCodeIsRefusedWithTheReason) {
  const Result<LayerCase> one = one_layer("Lambda", R"({"function":"x"})", {"[3]"});
  ASSERT_TRUE(one);
  const ValidationResult result = validate(one->model);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings.front().layer, "one");
  EXPECT_EQ(result.findings.front().rule, "Keras.unknown-layer");
  EXPECT_NE(result.findings.front().message.find("never executed"), std::string::npos);
}

TEST(CaseLines, AreRefusedWithOneReason) {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "a.jsonl";
  const auto reason = [&](const std::string& text) {
    std::ofstream(file) << text;
    const Result<LayerCase> one = read_named_case(file + "#a");
    return one ? std::string("accepted") : one.error().message.substr(file.size());
  };
  EXPECT_EQ(reason(""), ": no case is in it");
  EXPECT_EQ(reason("{}\n"), ":1: not a case: 'id' is missing");
  EXPECT_EQ(reason("{\"id\":\"b\"}\n"), ": no case has the id 'a'");
  EXPECT_EQ(reason("{\"id\":\"a\"}\n"), ":1: not a case: 'inputs' is missing");
  EXPECT_EQ(reason("{\"id\":\"a\",\"inputs\":{\"x\":[[1],[1,2]]},\"model_inputs\":[\"x\"]}\n"),
            ":1: the rows of a tensor are of different lengths");
  EXPECT_TRUE(reason("[").starts_with(":1: not JSON"));
}

}  // namespace
}  // namespace assay

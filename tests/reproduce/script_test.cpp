// Scripts: what is written, that it is short, and that nothing of a model's file gets loose in it.
#include "reproduce/script.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "reproduce/python_source.h"
#include "reproduce/simple_inputs.h"

namespace assay {
namespace {

BackendTest test_of(const std::string& text) {
  const Result<std::vector<TextCase>> cases = parse_cases(text, "test");
  EXPECT_TRUE(cases) << (cases ? "" : cases.error().message);
  return to_test(cases->front());
}

BackendTest pool() {
  return test_of(
      "case pool\nnode AveragePool kernel_shape=[2] pads=[1,0]\n"
      "in X f32[1,1,2] = 4 6\nout Y f32[1,1,2] = 4 5\n");
}

ScriptParts runtime() {
  ScriptParts parts;
  parts.imports = {"import onnxruntime"};
  parts.lines = {
      "runner = onnxruntime.InferenceSession(model, providers=[\"CPUExecutionProvider\"])",
      "found = runner.run(None, feed)"};
  parts.from_model = true;
  parts.onnx = "from onnx import TensorProto, make";
  return parts;
}

ScriptParts framework() {
  ScriptParts parts;
  parts.imports = {"import torch"};
  parts.lines = {"found = [torch.nn.functional.avg_pool1d(X, [2], [1], [1]).numpy()]"};
  parts.variables = {{"X", "torch.from_numpy({})"}};
  return parts;
}

// The answer of a framework that counts padding.
Answer wrong_answer() {
  Answer answer;
  answer.values.emplace_back("Y",
                             make_tensor(ElementType::f32, {1, 1, 2}, std::vector<double>{2, 5}));
  return answer;
}

ScriptSubject subject_of(const BackendTest& test, const Answer& answer) {
  ScriptSubject subject{&test, {}, "onnxruntime", "1.20.1"};
  const Result<std::vector<Allowance>> allowed = allowances(test, "", 0);
  EXPECT_TRUE(allowed);
  subject.expectation = contradiction(test.model.graph, *allowed, answer);
  return subject;
}

std::string golden(const std::string& name) {
  std::ifstream file("tests/golden/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

Script written(const ScriptSubject& subject, const ScriptParts& parts) {
  Result<Script> script = write_script(subject, name_variables(subject.test->model.graph), parts);
  EXPECT_TRUE(script) << (script ? "" : script.error().message);
  return script ? *std::move(script) : Script{};
}

TEST(Script, BuildsTheModelForARuntime) {
  const BackendTest test = pool();
  const Script script = written(subject_of(test, wrong_answer()), runtime());
  EXPECT_EQ(script.text, golden("script_runtime.txt"));
  EXPECT_FALSE(script.needs_model);
  EXPECT_LE(lines_of(script.text), kMostScriptLines);
}

TEST(Script, CallsAFrameworkInItsOwnWords) {
  const BackendTest test = pool();
  ScriptSubject subject = subject_of(test, wrong_answer());
  subject.backend = "torch";
  subject.version = "2.14.0";
  subject.explanation = "padding-is-counted";
  EXPECT_EQ(written(subject, framework()).text, golden("script_framework.txt"));
}

TEST(Script, ReadsTheModelFromItsFileWhereThePackageIsMissing) {
  const BackendTest test = pool();
  ScriptParts parts = runtime();
  parts.onnx.clear();
  const Script script = written(subject_of(test, wrong_answer()), parts);
  EXPECT_TRUE(script.needs_model);
  EXPECT_NE(script.text.find("/model.onnx"), std::string::npos);
  EXPECT_EQ(script.text.find("import TensorProto"), std::string::npos);
}

TEST(Script, IsRefusedWhereTheModelWouldHaveToBeBesideItAndIsNot) {
  const BackendTest test = pool();
  ScriptParts parts = runtime();
  parts.onnx.clear();
  ScriptSubject subject = subject_of(test, wrong_answer());
  subject.has_file = false;
  EXPECT_FALSE(write_script(subject, name_variables(test.model.graph), parts));
}

TEST(Script, ImportsWhatReadsTheVariablesOfTheProcessAfterThem) {
  const BackendTest test = pool();
  ScriptParts parts = framework();
  parts.imports = {"import os", "os.environ[\"KERAS_BACKEND\"] = \"torch\"", "import keras"};
  const std::string text = written(subject_of(test, wrong_answer()), parts).text;
  EXPECT_NE(text.find("import numpy as np\nimport os\nos.environ[\"KERAS_BACKEND\"] = \"torch\"\n"
                      "import keras\n"),
            std::string::npos)
      << text;
}

TEST(Script, PutsLargeInputsBesideIt) {
  BackendTest test = pool();
  std::vector<double> values(300);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 17);
  test.inputs[0].value = make_tensor(ElementType::f32, {1, 1, 300}, values);
  Answer answer;
  answer.values.emplace_back("Y", make_tensor(ElementType::f32, {1, 1, 300}, values));
  const Script script = written(subject_of(test, answer), framework());
  ASSERT_EQ(script.data.size(), 1U);
  EXPECT_EQ(script.data[0].first, "X");
  EXPECT_NE(script.text.find("np.load(__file__[:-3] + \".npz\")"), std::string::npos);
}

TEST(Script, IsRefusedWhenItIsTooLong) {
  const BackendTest test = pool();
  ScriptParts parts = framework();
  parts.lines.insert(parts.lines.begin(), 17, "v1 = torch.relu(X)");
  const Result<Script> script =
      write_script(subject_of(test, wrong_answer()), name_variables(test.model.graph), parts);
  ASSERT_FALSE(script);
  EXPECT_NE(script.error().message.find("lines"), std::string::npos);
}

TEST(Script, HoldsNoNameOfAFileThatIsMoreThanAName) {
  const std::string evil = "x\"\"\"\nimport os; os.abort() #'\\";
  BackendTest test = pool();
  Graph& graph = test.model.graph;
  test.inputs[0].name = graph.inputs[0].name = graph.nodes[0].inputs[0] = evil;
  graph.nodes[0].name = graph.name = evil;
  graph.nodes[0].op = "Average\nPool\"";
  graph.nodes[0].set("auto_pad", evil);
  ScriptSubject subject{&test, {}, "onnxruntime", "1.20.1"};
  for (const bool there : {true, false}) {
    ScriptParts parts = runtime();
    if (!there) parts.onnx.clear();
    const Script script = written(subject, parts);
    EXPECT_EQ(script.text.find("\nimport os"), std::string::npos) << script.text;
    EXPECT_EQ(script.text.find("\"\"\""), std::string::npos) << script.text;
    EXPECT_EQ(script.text.find("Pool\"\n"), std::string::npos) << script.text;
  }
  EXPECT_EQ(python_text(evil), "\"x\\\"\\\"\\\"\\x0aimport os; os.abort() #'\\\\\"");
}

TEST(Script, NamesVariablesSoThatTheyHideNothing) {
  Graph graph;
  for (const char* name : {"x", "np", "lambda", "a b", "v3", "found", "x1"}) {
    graph.inputs.push_back({name, {}});
  }
  std::vector<std::string> names;
  for (const auto& [value, variable] : name_variables(graph)) names.push_back(variable);
  EXPECT_EQ(names, (std::vector<std::string>{"x", "x1", "x2", "x3", "x4", "x5", "x6"}));
}

TEST(PythonSource, WritesValuesThatReadBackTheSame) {
  const auto of = [](ElementType type, Shape shape, std::vector<double> values) {
    return array_source(make_tensor(type, std::move(shape), values));
  };
  EXPECT_EQ(of(ElementType::f32, {2, 1}, {0.1, -3}),
            "np.array([0.1, -3.0], np.float32).reshape(2, 1)");
  EXPECT_EQ(of(ElementType::bf16, {1}, {1.5}), "np.array([1.5], np.float32)");
  EXPECT_EQ(of(ElementType::f64, {2}, {std::nan(""), -INFINITY}),
            "np.array([np.nan, -np.inf], np.float64)");
  EXPECT_EQ(of(ElementType::i64, {}, {3}), "np.array(3, np.int64)");
  EXPECT_EQ(of(ElementType::i4, {2}, {-8, 7}), "np.array([-8, 7], np.int8)");
  EXPECT_EQ(of(ElementType::boolean, {3}, {1, 1, 1}), "np.full((3,), True, np.bool_)");
  EXPECT_EQ(of(ElementType::f32, {0, 2}, {}), "np.zeros((0, 2), np.float32)");
  EXPECT_EQ(array_source(make_strings({1}, {"a\n\"\xC3\xA9"})),
            "np.array([\"a\\x0a\\\"\\xe9\"], object)");
}

TEST(PythonSource, BreaksLinesOnlyInsideOfBracketsAndOutsideOfTexts) {
  std::string text = "value = call(\"";
  text += std::string(60, ',') + "\"";
  for (int i = 0; i < 20; ++i) text += ", 1234567";
  const std::vector<std::string> lines = wrapped(text + ")");
  ASSERT_GT(lines.size(), 1U);
  std::string joined;
  for (const std::string& line : lines) {
    EXPECT_LE(line.size(), 100U);
    joined += joined.empty() ? line : " " + line.substr(line.find_first_not_of(' '));
  }
  EXPECT_EQ(joined, text + ")");
  const std::string plain(150, 'x');
  EXPECT_EQ(wrapped(plain), std::vector<std::string>{plain});
}

TEST(SimpleInputs, AreWhatNumpyDraws) {
  BackendTest test = pool();
  std::vector<double> values(100);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i == 0 ? 1 : 0;
  test.inputs[0].value = make_tensor(ElementType::f32, {1, 1, 100}, values);
  const std::optional<SimpleInputs> simple = simple_inputs(test);
  ASSERT_TRUE(simple);
  EXPECT_EQ(simple->sources.at("X"),
            "np.random.RandomState(0).uniform(0, 1, (1, 1, 100)).astype(np.float32)");
  // numpy.random.RandomState(0).uniform(0, 1, 3)
  const Tensor& drawn = simple->test.inputs[0].value.tensor();
  EXPECT_EQ(drawn.real(0), static_cast<float>(0.5488135039273248));
  EXPECT_EQ(drawn.real(1), static_cast<float>(0.7151893663724195));
  EXPECT_EQ(drawn.real(2), static_cast<float>(0.6027633760716439));
  EXPECT_FALSE(simple_inputs(pool()));
}

TEST(SimpleInputs, HaveFewDigits) {
  BackendTest test = pool();
  test.inputs[0].value =
      make_tensor(ElementType::f32, {1, 1, 2}, std::vector<double>{0.123456, INFINITY});
  const std::optional<SimpleInputs> simple = simple_inputs(test);
  ASSERT_TRUE(simple);
  EXPECT_TRUE(simple->sources.empty());
  EXPECT_EQ(array_source(simple->test.inputs[0].value.tensor()),
            "np.array([0.12, np.inf], np.float32).reshape(1, 1, 2)");
}

TEST(Expectation, IsTheWorstElementAndNoneForARightAnswer) {
  const BackendTest test = pool();
  const Result<std::vector<Allowance>> allowed = allowances(test, "", 0);
  ASSERT_TRUE(allowed);
  Answer answer;
  answer.values.emplace_back("Y", test.outputs[0].value);
  EXPECT_FALSE(contradiction(test.model.graph, *allowed, answer));
  const auto told = contradiction(test.model.graph, *allowed, wrong_answer());
  ASSERT_TRUE(told);
  EXPECT_EQ(told->kind, Expectation::Kind::element);
  EXPECT_EQ(told->element, 0);
  EXPECT_EQ(told->outside, 1);
  EXPECT_EQ(told->largest, 2);
  Answer short_one;
  short_one.values.emplace_back("Y",
                                make_tensor(ElementType::f32, {1, 1, 1}, std::vector<double>{4}));
  EXPECT_EQ(contradiction(test.model.graph, *allowed, short_one)->kind, Expectation::Kind::shape);
}

}  // namespace
}  // namespace assay

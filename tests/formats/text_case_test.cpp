// Case files: the grammar, its errors, and the ONNX backend tests that cases become.
#include "formats/text_case.h"

#include <cmath>

#include "formats/onnx_value.h"
#include "graph/order.h"
#include "support.h"

namespace assay {
namespace {

std::vector<TextCase> parse_all(std::string_view text) {
  auto cases = parse_cases(text, "pool.txt");
  EXPECT_TRUE(cases.has_value()) << cases.error().message;
  return cases.has_value() ? *cases : std::vector<TextCase>();
}

// The value of `in X …` with this text.
Value value_of(const std::string& text) {
  const auto cases = parse_all("case c\nnode Op\nin X " + text + "\n");
  return cases.empty() ? Value() : cases.at(0).inputs.at(0).value;
}

AttributeValue attribute_of(const std::string& text) {
  const auto cases = parse_all("case c\nnode Op a=" + text + "\n");
  return cases.empty() ? AttributeValue() : *cases.at(0).node.find("a");
}

std::string failure(const std::string& text) {
  const auto cases = parse_cases(text, "pool.txt");
  if (cases.has_value()) return "accepted";
  EXPECT_EQ(cases.error().message.find('\n'), std::string::npos);
  return cases.error().message;
}

std::string value_failure(const std::string& text) {
  return failure("case c\nnode Op\nin X " + text);
}

constexpr std::string_view kPool = R"(# a whole file
case padding-not-counted   # the first
opset 22
node AveragePool kernel_shape=[2] pads=[1,0]
in   X f32[1,1,2] = 4 6
in   -
in   I i64[2] = 0 1
out  Y f32[1,1,2] = 4 5
out  -
tolerance 1e-6 1e-7
variant padding-is-counted Y f32[1,1,2] = 2 5
refuse kernel_shape=[0] -> AveragePool.positive
refuse pads=- in X f32[1,2] = -1 2 -> AveragePool.rank
refuse in I - -> AveragePool.missing-input
legal strides=[3]

case second
domain ai.onnx.ml
node Normalizer norm='MAX'
in X f32[1] = 1
out Y f32[1] = 1
)";

TEST(CaseFile, IsReadWhole) {
  const auto cases = parse_all(kPool);
  ASSERT_EQ(cases.size(), 2U);
  const TextCase& pool = cases[0];
  EXPECT_EQ(pool.name, "padding-not-counted");
  EXPECT_EQ(pool.line, 2);
  EXPECT_EQ(pool.opset, 22);
  EXPECT_EQ(pool.node.op, "AveragePool");
  EXPECT_EQ(pool.node.inputs, std::vector<std::string>({"X", "", "I"}));
  EXPECT_EQ(pool.node.outputs, std::vector<std::string>({"Y", ""}));
  EXPECT_EQ(pool.inputs[0].value.tensor().reals(), std::vector<double>({4, 6}));
  EXPECT_FALSE(pool.inputs[1].value.present());
  EXPECT_EQ(pool.outputs[0].value.shape(), Shape({1, 1, 2}));
  EXPECT_EQ(pool.tolerance, std::make_pair(1e-6, 1e-7));
  ASSERT_EQ(pool.variants.size(), 1U);
  EXPECT_EQ(pool.variants[0].name, "padding-is-counted");
  EXPECT_EQ(pool.variants[0].output, "Y");
  EXPECT_EQ(pool.variants[0].value.tensor().real(0), 2);
  EXPECT_EQ(cases[1].node.domain, "ai.onnx.ml");
  EXPECT_EQ(cases[1].opset, std::nullopt);
  EXPECT_EQ(opset_of(cases[1]), 5);
}

TEST(CaseFile, MakesTheChangesOfRefusals) {
  const auto cases = parse_all(kPool);
  ASSERT_EQ(cases[0].refusals.size(), 3U);
  const TextChange& first = cases[0].refusals[0];
  EXPECT_EQ(first.rule, "AveragePool.positive");
  EXPECT_EQ(first.line, 12);
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(*first.node.find("kernel_shape"))[0], 0);
  EXPECT_NE(first.node.find("pads"), nullptr);
  EXPECT_EQ(first.inputs[0].value.shape(), Shape({1, 1, 2}));
  const TextChange& second = cases[0].refusals[1];
  EXPECT_EQ(second.rule, "AveragePool.rank");
  EXPECT_EQ(second.node.find("pads"), nullptr);
  EXPECT_EQ(second.inputs[0].value.tensor().reals(), std::vector<double>({-1, 2}));
  EXPECT_EQ(second.node.inputs, cases[0].node.inputs);
  const TextChange& third = cases[0].refusals[2];
  EXPECT_EQ(third.node.inputs, std::vector<std::string>({"X", "", ""}));
  EXPECT_FALSE(third.inputs[2].value.present());
  ASSERT_EQ(cases[0].legal.size(), 1U);
  EXPECT_NE(cases[0].legal[0].node.find("strides"), nullptr);
  // The case itself is as it was.
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(*cases[0].node.find("kernel_shape"))[0], 2);
}

TEST(CaseFile, TakesChangesThatStandBeforeTheInputs) {
  const auto cases = parse_all(
      "case c\nnode Op\nlegal a=1\nrefuse in X f32[] = 2 -> Op.r\n"
      "in X f32[] = 1\nout Y f32[] = 1");
  EXPECT_EQ(cases.at(0).legal[0].node.inputs, std::vector<std::string>({"X"}));
  EXPECT_EQ(cases.at(0).refusals[0].inputs[0].value.tensor().real(0), 2);
}

TEST(CaseValues, AreNumbersOfTheirType) {
  const Value reals = value_of("f32[6] = 1 -2.5e3 nan inf -inf 0x1p-149");
  EXPECT_EQ(reals.tensor().real(1), -2500);
  EXPECT_TRUE(std::isnan(reals.tensor().real(2)));
  EXPECT_EQ(reals.tensor().real(4), -INFINITY);
  EXPECT_EQ(reals.tensor().real(5), std::ldexp(1, -149));
  EXPECT_TRUE(std::signbit(value_of("f32[1] = -0").tensor().real(0)));
  EXPECT_EQ(value_of("u64[1] = 18446744073709551615").tensor().integer(0), -1);
  EXPECT_EQ(value_of("i64[1] = -9223372036854775808").tensor().integer(0), INT64_MIN);
  EXPECT_EQ(value_of("bool[2] = true false").tensor().integers(),
            std::vector<std::int64_t>({1, 0}));
  EXPECT_EQ(value_of("c64[2] = (1,-2) 3").tensor().data<std::complex<float>>()[0],
            std::complex<float>(1, -2));
  EXPECT_EQ(value_of(R"(string[2] = 'a # b' 'it\'s \x41\n\\')").tensor().data<std::string>()[1],
            "it's A\n\\");
  EXPECT_EQ(value_of("f32 = 3").shape(), Shape());
  EXPECT_EQ(value_of("f32[0,3] =").shape(), Shape({0, 3}));
}

TEST(CaseValues, AreFilledUp) {
  EXPECT_EQ(value_of("f32[2,2] = 7 ...").tensor().reals(), std::vector<double>({7, 7, 7, 7}));
  EXPECT_EQ(value_of("i64[4] = 1 2 ...").tensor().integers(),
            std::vector<std::int64_t>({1, 2, 2, 2}));
}

TEST(CaseValues, AreContainers) {
  const Value sequence = value_of("seq(f32) = [f32[2]={1 2} f32[1]={3}]");
  ASSERT_EQ(sequence.elements().size(), 2U);
  EXPECT_EQ(sequence.elements()[0].tensor().real(1), 2);
  EXPECT_TRUE(value_of("seq(f32) = []").elements().empty());
  EXPECT_EQ(value_of("opt(f32[2]) = {1 2}").elements().at(0).tensor().real(1), 2);
  EXPECT_TRUE(value_of("opt(f32) = none").elements().empty());
  EXPECT_EQ(value_of("opt(seq(i64)) = [i64[]={4}]").elements().at(0).elements().size(), 1U);
  const Value map = value_of("map(string,f32) = {'a':1 'b':2}");
  EXPECT_EQ(map.keys().data<std::string>()[1], "b");
  EXPECT_EQ(map.mapped().real(1), 2);
  const Value maps = value_of("seq(map(i64,f32)) = [{1:0.5} {-2:1.5}]");
  EXPECT_EQ(maps.elements().at(1).keys().integer(0), -2);
}

TEST(CaseValues, ThatDoNotFitAreRefused) {
  EXPECT_EQ(value_failure("f32[3] = 1 2"), "pool.txt:3: the shape needs 3 elements, there are 2");
  EXPECT_TRUE(has(value_failure("f32[1] = 1 2"), "needs 1 elements, there are 2"));
  EXPECT_TRUE(has(value_failure("i8[1] = 128"), "'128' is no number of type i8"));
  EXPECT_TRUE(has(value_failure("u8[1] = -1"), "no number of type u8"));
  EXPECT_TRUE(has(value_failure("f16[1] = 70000"), "70000 does not fit into f16"));
  EXPECT_TRUE(has(value_failure("f32[1] = abc"), "'abc' is no number"));
  EXPECT_TRUE(has(value_failure("f32[1] = 'abc'"), "a number is expected"));
  EXPECT_TRUE(has(value_failure("f33[1] = 1"), "'f33' is no element type"));
  EXPECT_TRUE(has(value_failure("f32[n] = 1"), "f32[n] has an extent that is not a number"));
  EXPECT_TRUE(has(value_failure("f32[-1] = 1"), "negative"));
  EXPECT_TRUE(has(value_failure("f32[1000000000000] = 1 ..."), "too large"));
  EXPECT_TRUE(has(value_failure("f32[1] 1"), "'=' is expected, there is '1'"));
  EXPECT_TRUE(has(value_failure("string[1] = 'abc"), "a text does not end"));
  EXPECT_TRUE(has(value_failure("seq(f32) = [i64[1]={1}]"), "an element of type f32 is expected"));
  EXPECT_TRUE(has(value_failure("seq(f32) = [f32[1]={1}"), "']' is expected"));
}

TEST(CaseAttributes, AreOfEveryKind) {
  EXPECT_EQ(std::get<std::int64_t>(attribute_of("-3")), -3);
  EXPECT_EQ(std::get<double>(attribute_of("1.0")), 1.0);
  EXPECT_EQ(std::get<double>(attribute_of("inf")), INFINITY);
  EXPECT_EQ(std::get<std::string>(attribute_of("'x y'")), "x y");
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(attribute_of("[1,-2]")),
            std::vector<std::int64_t>({1, -2}));
  EXPECT_EQ(std::get<std::vector<double>>(attribute_of("[1, 2.5]")), std::vector<double>({1, 2.5}));
  EXPECT_EQ(std::get<std::vector<std::string>>(attribute_of("['a','b']"))[1], "b");
  EXPECT_EQ(std::get<Tensor>(attribute_of("f32[2]={1 2}")).real(1), 2);
  EXPECT_EQ(std::get<std::vector<Tensor>>(attribute_of("[f32[]={1},i8[1]={2}]")).size(), 2U);
  EXPECT_EQ(to_text(std::get<ValueType>(attribute_of("seq(f32[2,n])"))), "seq(f32[2,n])");
  EXPECT_EQ(to_text(std::get<ValueType>(attribute_of("f32[2]"))), "f32[2]");
  EXPECT_EQ(std::get<std::int64_t>(attribute_of("dtype(f16)")), 10);
  EXPECT_TRUE(std::get<std::vector<std::int64_t>>(attribute_of("[]")).empty());
  EXPECT_TRUE(std::get<std::vector<double>>(attribute_of("floats[]")).empty());
  EXPECT_TRUE(std::get<std::vector<std::string>>(attribute_of("strings[]")).empty());
  const auto sparse = std::get<std::shared_ptr<const SparseTensor>>(
      attribute_of("sparse([3,3], i64[1]={4}, f32[1]={2})"));
  EXPECT_EQ(sparse->shape, Shape({3, 3}));
  EXPECT_EQ(sparse->indices.integer(0), 4);
  EXPECT_TRUE(has(failure("case c\nnode Op a=[1,'b']"), "of one type"));
  EXPECT_TRUE(has(failure("case c\nnode Op a=what"), "'what' is no element type"));
  EXPECT_TRUE(has(failure("case c\nnode Op a"), "'=' is expected, there is nothing more"));
}

constexpr std::string_view kLoop = R"(case nested
graph inner() -> (z) {
  z = Neg(x)
}
graph body(i i64[], c bool[], x f32[2]) -> (c_out bool[], y f32[2]) {
  one = f32[2]={1 1}   # an initializer
  c_out = Identity(c)
  y, - = ai.onnx.ml.Some(x, , one) axis=1 then_branch=@inner \
         name='longer'
}
node Loop body=@body
in M i64[] = 3
in - 
in X f32[2] = 0 0
out Y f32[2] = 3 3
)";

TEST(CaseGraphs, AreAttributes) {
  const auto cases = parse_all(kLoop);
  const auto graph = std::get<std::shared_ptr<const Graph>>(*cases.at(0).node.find("body"));
  ASSERT_EQ(graph->inputs.size(), 3U);
  EXPECT_EQ(to_text(graph->inputs[1].type), "bool[]");
  EXPECT_EQ(graph->outputs[1].name, "y");
  ASSERT_EQ(graph->nodes.size(), 2U);
  const Node& node = graph->nodes[1];
  EXPECT_EQ(node.domain, "ai.onnx.ml");
  EXPECT_EQ(node.op, "Some");
  EXPECT_EQ(node.inputs, std::vector<std::string>({"x", "", "one"}));
  EXPECT_EQ(node.outputs, std::vector<std::string>({"y", ""}));
  EXPECT_EQ(std::get<std::string>(*node.find("name")), "longer");
  EXPECT_EQ(std::get<std::shared_ptr<const Graph>>(*node.find("then_branch"))->nodes[0].op, "Neg");
  ASSERT_EQ(graph->initializers.size(), 1U);
  const Model model = to_model(cases[0]);
  EXPECT_EQ(model.opsets.at("ai.onnx.ml"), 5);
  EXPECT_EQ(model.opsets.at(""), 28);
  EXPECT_TRUE(check_structure(model).empty());
}

TEST(CaseFile, SaysLineAndExpectation) {
  EXPECT_EQ(failure("\n\nnode Op"), "pool.txt:3: 'case' is expected first, there is 'node'");
  EXPECT_TRUE(has(failure("case a\nnode Op\ncase a"), "pool.txt:3: there is already a case 'a'"));
  EXPECT_TRUE(has(failure("case a\ncase b\nnode Op"), "pool.txt:1: case 'a' has no node"));
  EXPECT_TRUE(has(failure("case a\nnode Op\nnode Op"), "pool.txt:3: a case has one node"));
  EXPECT_TRUE(has(failure("case a\nnoed Op"), "is expected, there is 'noed'"));
  EXPECT_TRUE(has(failure("case a b"), "the end of the line is expected, there is 'b'"));
  EXPECT_TRUE(has(failure("case a\nnode Op\nrefuse k=1"), "pool.txt:3: '->' is expected"));
  EXPECT_TRUE(has(failure("case a\nnode Op\nrefuse -> Op.x"), "an attribute or `in` is expected"));
  EXPECT_TRUE(has(failure("case a\nnode Op\nrefuse in Z f32[] = 1 -> Op.x"),
                  "pool.txt:3: the case has no input 'Z'"));
  EXPECT_TRUE(has(failure("case a\nnode Op\nvariant v Z f32[] = 1"), "has no output 'Z'"));
  EXPECT_TRUE(has(failure("case a\nlegal k=1"), "'node' must stand before 'legal'"));
  EXPECT_TRUE(has(failure("case a\nnode Op\nin X f32[]=1\nout X f32[]=1"), "already has a value"));
  EXPECT_TRUE(has(failure("case a\nnode Op g=@none"), "no graph 'none' stands before this"));
  EXPECT_TRUE(has(failure("case a\ngraph g() -> (y) {\ny = Op()"), "does not end with '}'"));
  EXPECT_TRUE(has(failure("case a\nopset x\nnode Op"), "pool.txt:2: 'x' is no number of type i64"));
  // A line that goes on counts as one; the next error is still where it stands.
  EXPECT_TRUE(has(failure("case a\nnode Op \\\n  a=1\nwhat"), "pool.txt:4:"));
}

TEST(CaseFile, ThatIsMissingIsNamed) {
  const auto cases = read_cases("/nonexistent/pool.txt");
  ASSERT_FALSE(cases.has_value());
  EXPECT_TRUE(has(cases.error().message, "/nonexistent/pool.txt: "));
}

TEST(BackendTest, CanBeReadBack) {
  const TemporaryFolder folder;
  const auto cases = parse_all(kPool);
  const auto written = write_backend_test(to_test(cases[0]), folder / "pool");
  ASSERT_TRUE(written.has_value()) << written.error().message;
  const auto model = read_onnx(folder / "pool" / "model.onnx");
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_TRUE(check_structure(*model).empty());
  EXPECT_EQ(model->opsets.at(""), 22);
  ASSERT_EQ(model->graph.inputs.size(), 2U);  // the absent one is none of the model's
  EXPECT_EQ(model->graph.inputs[1].name, "I");
  EXPECT_EQ(model->graph.nodes[0].inputs, cases[0].node.inputs);
  const auto data = folder / "pool" / "test_data_set_0";
  const auto input = read_test_value(data / "input_1.pb", model->graph.inputs[1].type);
  ASSERT_TRUE(input.has_value()) << input.error().message;
  EXPECT_TRUE(identical(input->tensor(), cases[0].inputs[2].value.tensor()));
  const auto output = read_test_value(data / "output_0.pb", model->graph.outputs[0].type);
  ASSERT_TRUE(output.has_value()) << output.error().message;
  EXPECT_TRUE(identical(output->tensor(), cases[0].outputs[0].value.tensor()));
  EXPECT_FALSE(std::filesystem::exists(data / "input_2.pb"));
  EXPECT_TRUE(std::filesystem::exists(folder / "pool" / "data.json"));
}

TEST(BackendTest, UsesTheIrVersionThatItsTypesNeed) {
  const auto ir_version = [](const std::string& type) {
    return to_model(parse_all("case c\nnode Op\nin X " + type + " = 1").at(0)).ir_version;
  };
  EXPECT_EQ(ir_version("f32[1]"), 10);
  EXPECT_EQ(ir_version("i2[1]"), 13);
  EXPECT_EQ(ir_version("f6e2m3[1]"), 14);
}

}  // namespace
}  // namespace assay

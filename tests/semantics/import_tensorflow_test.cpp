// TensorFlow graphs as models: names, inputs, loops, branches, what nobody knows.
#include "semantics/import_tensorflow.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "formats/tensorflow_read.h"
#include "graph/order.h"
#include "graph/origin.h"
#include "semantics/evaluator.h"

namespace assay {
namespace {

std::string node(const std::string& name, const std::string& op, const std::string& inputs = "",
                 const std::string& attributes = "", const std::string& type = "DT_FLOAT") {
  std::string text = "node { name: \"" + name + "\" op: \"" + op + "\" ";
  for (std::size_t at = 0; at < inputs.size();) {
    const std::size_t end = std::min(inputs.find(' ', at), inputs.size());
    text += "input: \"" + inputs.substr(at, end - at) + "\" ";
    at = end + 1;
  }
  return text + "attr { key: \"T\" value { type: " + type + " } } " + attributes + "}\n";
}

std::string placeholder(const std::string& name, const std::string& op = "Placeholder") {
  return node(
      name, op, "",
      "attr { key: \"dtype\" value { type: DT_FLOAT } } attr { key: \"shape\" value { shape { "
      "dim { size: 2 } } } }");
}

TypedModel import_typed(const std::string& text) {
  auto graph = parse_tensorflow(text, TensorflowForm::text, "test.pbtxt");
  EXPECT_TRUE(graph.has_value()) << (graph ? "" : graph.error().message);
  return import_tensorflow(*std::move(graph));
}

Model import(const std::string& text) { return import_typed(text).model; }

// Types by name, and what is objected to, as one text.
std::string described(const ModelTypes& types) {
  std::map<std::string, std::string> lines;
  for (const NamedValueType& value : types.values) {
    const Known& known = *value.known;
    lines[value.name] = to_text(known.type) + (known.constant.defined() ? " known" : "") +
                        (known.extents ? to_text(*known.extents) : "");
  }
  std::string text;
  for (const auto& [name, line] : lines) text.append(name).append(": ").append(line).append("\n");
  for (const NodeRemarks& remarks : types.remarks) text += remarks.layer + " is remarked on\n";
  return text;
}

const Node& node_named(const Graph& graph, const std::string& name) {
  const auto found = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                  [&](const Node& one) { return one.name == name; });
  EXPECT_NE(found, graph.nodes.end()) << name;
  return *found;
}

std::vector<double> run(Model model, const std::vector<Tensor>& inputs) {
  auto evaluator = Evaluator::make(std::make_shared<const Model>(std::move(model)));
  EXPECT_TRUE(evaluator.has_value()) << (evaluator ? "" : evaluator.error().message);
  const std::vector<Value> values(inputs.begin(), inputs.end());
  const auto outputs = (*evaluator)->run(values, {});
  EXPECT_TRUE(outputs.has_value()) << (outputs ? "" : outputs.error().message);
  return outputs->front().tensor().reals();
}

Tensor pair(double a, double b) {
  return make_tensor(ElementType::f32, {2}, std::vector<double>{a, b});
}

TEST(ImportTensorflow, KeepsNamesAndOrigins) {
  const Model model = import(placeholder("x") + node("y", "Rsqrt", "x"));
  EXPECT_TRUE(check_structure(model).empty());
  ASSERT_EQ(model.graph.outputs.size(), 1U);
  EXPECT_EQ(model.graph.outputs[0].name, "y");
  const Node& last = node_named(model.graph, "y");
  EXPECT_EQ(last.op, "Reciprocal");
  for (const Node& one : model.graph.nodes) {
    EXPECT_EQ(origin_name(one), "y");
    EXPECT_EQ(origin_op(one), "Rsqrt");
  }
}

TEST(ImportTensorflow, TellsInputsFromParametersAndSources) {
  const std::string types =
      "attr { key: \"component_types\" value { list { type: DT_FLOAT type: DT_INT32 } } } ";
  const Model model = import(placeholder("x") + placeholder("w", "VariableV2") +
                             node("queue", "FIFOQueueV2", "", types) +
                             node("taken", "QueueDequeueV2", "queue", types) +
                             node("a", "Add", "x w") + node("b", "Add", "a taken"));
  ASSERT_EQ(model.graph.inputs.size(), 4U);
  EXPECT_FALSE(is_parameter(model.graph.inputs[0]));
  EXPECT_TRUE(is_parameter(model.graph.inputs[1]));
  EXPECT_EQ(model.graph.inputs[3].name, "taken:1");
  EXPECT_EQ(*find_property(model.graph.inputs[3].metadata, kOriginSource), "queue");
  EXPECT_EQ(*find_property(model.graph.inputs[3].metadata, kOriginIndex), "1");
}

// A constant that definitions bring along stands in the graph once, one of the file as often as
// there.
TEST(ImportTensorflow, SharesConstantsOfDefinitions) {
  const std::string half =
      "attr { key: \"dtype\" value { type: DT_FLOAT } } attr { key: \"value\" value { tensor { "
      "dtype: DT_FLOAT tensor_shape { } float_val: 0.5 } } }";
  const Model model =
      import(placeholder("x") + node("c", "Const", "", half) + node("d", "Const", "", half) +
             node("p", "Add", "c d") + node("y", "SquaredDifference", "x p") +
             node("u", "RsqrtGrad", "x y") + node("v", "RsqrtGrad", "y x"));
  std::map<std::string, int> counts;
  for (const Node& one : model.graph.nodes) ++counts[one.op];
  EXPECT_EQ(counts["Constant"], 3);
  EXPECT_TRUE(check_structure(model).empty());
}

TEST(ImportTensorflow, LeavesWhatNobodyKnowsUnknown) {
  const Model model =
      import(placeholder("x") + node("y", "NobodyKnows", "x") + node("z", "Exp", "y"));
  const Node& unknown = node_named(model.graph, "y");
  EXPECT_EQ(unknown.domain, "tensorflow");
  EXPECT_EQ(*find_property(unknown.metadata, kOriginUnknown), "the operation is not defined");
  EXPECT_TRUE(check_structure(model).empty());
}

TEST(ImportTensorflow, SaysWhyANodeIsUnknown) {
  const Model model = import(placeholder("x") + placeholder("p") + node("y", "Transpose", "x p"));
  EXPECT_EQ(*find_property(node_named(model.graph, "y").metadata, kOriginUnknown),
            "its permutation is not known before the graph runs");
}

TEST(ImportTensorflow, LeavesSummariesAndChecksOut) {
  const Model model = import(placeholder("x") + node("y", "Exp", "x") +
                             node("s", "HistogramSummary", "y") + node("m", "MergeSummary", "s"));
  EXPECT_EQ(model.graph.nodes.size(), 1U);
  EXPECT_EQ(model.graph.outputs[0].name, "y");
}

TEST(ImportTensorflow, PutsNodesInOrder) {
  const Model model = import(node("y", "Exp", "h") + node("h", "Neg", "x") + placeholder("x"));
  EXPECT_TRUE(check_structure(model).empty());
  EXPECT_EQ(model.graph.nodes[0].name, "h");
}

TEST(ImportTensorflow, LeavesWrongNamesToValidation) {
  const auto rule = [](const std::string& text) {
    const auto findings = check_structure(import(text));
    return findings.empty() ? std::string() : findings.front().rule;
  };
  EXPECT_EQ(rule(placeholder("x") + node("y", "Exp", "nowhere")), "Graph.undefined");
  EXPECT_EQ(rule(node("a", "Exp", "b") + node("b", "Exp", "a")), "Graph.cycle");
  EXPECT_EQ(rule(placeholder("x") + node("y", "Exp", "x") + node("y", "Log", "x")),
            "Graph.duplicate");
}

TEST(ImportTensorflow, TakesTheBranchThatThePredicateNames) {
  const std::string scalar =
      "attr { key: \"dtype\" value { type: DT_BOOL } } attr { key: \"shape\" value { shape { } } }";
  const std::string text = placeholder("x") + node("p", "Placeholder", "", scalar) +
                           node("s", "Switch", "x p") + node("f", "Neg", "s") +
                           node("t", "Square", "s:1") + node("m", "Merge", "f t");
  const Model model = import(text);
  EXPECT_TRUE(check_structure(model).empty());
  EXPECT_EQ(run(model, {pair(3, 4), make_scalar(ElementType::boolean, 1)}),
            (std::vector<double>{9, 16}));
  EXPECT_EQ(run(model, {pair(3, 4), make_scalar(ElementType::boolean, 0)}),
            (std::vector<double>{-3, -4}));
}

std::string integer(const std::string& name, int value) {
  return node(name, "Const", "",
              "attr { key: \"value\" value { tensor { dtype: DT_INT32 tensor_shape { } int_val: " +
                  std::to_string(value) + " } } }");
}

std::string loop(const std::string& condition) {
  const std::string frame = "attr { key: \"frame_name\" value { s: \"f\" } } ";
  return placeholder("x") + integer("zero", 0) + integer("one", 1) + integer("four", 4) +
         node("ei", "Enter", "zero", frame, "DT_INT32") + node("ex", "Enter", "x", frame) +
         node("e4", "Enter", "four", frame, "DT_INT32") +
         node("e1", "Enter", "one", frame, "DT_INT32") +
         node("i", "Merge", "ei ni", "", "DT_INT32") + node("mx", "Merge", "ex nx") +
         node("less", "Less", "i e4", "", "DT_INT32") + condition +
         node("si", "Switch", "i cond", "", "DT_INT32") + node("sx", "Switch", "mx cond") +
         node("more", "Add", "si:1 e1", "", "DT_INT32") + node("twice", "Add", "sx:1 sx:1") +
         node("ni", "NextIteration", "more", "", "DT_INT32") +
         node("nx", "NextIteration", "twice") + node("out", "Exit", "sx");
}

TEST(ImportTensorflow, MakesLoopsOfFrames) {
  const Model model = import(loop(node("cond", "LoopCond", "less")));
  EXPECT_TRUE(check_structure(model).empty()) << check_structure(model).front().message;
  EXPECT_EQ(node_named(model.graph, "f").op, "Loop");
  EXPECT_EQ(run(model, {pair(1, -3)}), (std::vector<double>{16, -48}));
}

// What grows with the graph is what inference over the whole model says.
TEST(ImportTensorflow, BringsTheTypesOfTheModel) {
  for (const std::string& text :
       {placeholder("x") + integer("axis", 0) + node("shape", "Shape", "x") +
            node("sum", "Sum", "x axis") + node("out", "Mul", "sum x") +
            node("odd", "NobodyKnows", "out"),
        loop(node("cond", "LoopCond", "less"))}) {
    const TypedModel typed = import_typed(text);
    ASSERT_TRUE(typed.types);
    EXPECT_EQ(described(*typed.types), described(infer_types(typed.model)));
  }
  EXPECT_FALSE(import_typed(placeholder("x") + node("y", "Exp", "nowhere")).types);
}

// Blocks that repeat are planned by what was found for the first one: the plan is the one that
// would be made of the whole graph, and its slots are the places of the types.
TEST(ImportTensorflow, BringsThePlanOfTheModel) {
  const TypedModel imported =
      import_typed(placeholder("x") + node("a", "Relu", "x") + node("b", "Mul", "x a") +
                   node("c", "Relu", "b") + node("d", "Mul", "b c") + node("e", "Relu", "d"));
  const Graph& graph = imported.model.graph;
  ASSERT_TRUE(imported.types && imported.types->plan);
  EXPECT_EQ(imported.types->planned, graph.nodes.data());
  const Plan& plan = *imported.types->plan;
  const auto whole = make_plan(graph, {&imported.model.opsets});
  ASSERT_EQ(plan.nodes.size(), whole->nodes.size());
  const auto name_of = [&](int slot) {
    return slot < 0 ? "" : imported.types->values[static_cast<std::size_t>(slot)].name;
  };
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
    const PlannedNode &own = plan.nodes[i], &other = whole->nodes[i];
    EXPECT_EQ(own.found.entry, other.found.entry);
    EXPECT_EQ(own.found.schema, other.found.schema);
    EXPECT_EQ(own.position, i);
    EXPECT_EQ(own.node.attributes.size(), other.node.attributes.size());
    ASSERT_EQ(own.inputs.size(), graph.nodes[i].inputs.size());
    for (std::size_t k = 0; k < own.inputs.size(); ++k) {
      EXPECT_EQ(name_of(own.inputs[k].slot), graph.nodes[i].inputs[k]);
      EXPECT_EQ(own.inputs[k].last, other.inputs[k].last);
    }
    ASSERT_EQ(own.outputs.size(), graph.nodes[i].outputs.size());
    for (std::size_t k = 0; k < own.outputs.size(); ++k)
      EXPECT_EQ(name_of(own.outputs[k]), graph.nodes[i].outputs[k]);
    EXPECT_EQ(own.dying.size(), other.dying.size());
  }
}

TEST(ImportTensorflow, LeavesLoopsOfAnotherFormUnknown) {
  const Model model = import(loop(node("cond", "Identity", "less")));
  EXPECT_TRUE(check_structure(model).empty()) << check_structure(model).front().message;
  const std::string* reason =
      find_property(node_named(model.graph, "out").metadata, kOriginUnknown);
  ASSERT_NE(reason, nullptr);
  EXPECT_EQ(*reason, "the loop 'f' is not one that can be read: it has no condition");
}

std::string called(const std::string& attribute, const std::string& function) {
  return "attr { key: \"" + attribute + "\" value { func { name: \"" + function + "\" } } } ";
}

// A function of x and i with one node a result, as a TensorFlow 2 graph has it in its library.
std::string function(const std::string& name, const std::string& nodes,
                     const std::vector<std::string>& results) {
  std::string text = "function { signature { name: \"" + name +
                     "\" input_arg { name: \"i\" } input_arg { name: \"x\" } ";
  for (std::size_t k = 0; k < results.size(); ++k)
    text += "output_arg { name: \"r" + std::to_string(k) + "\" } ";
  text += "} ";
  for (std::size_t at = nodes.find("node {"); at != std::string::npos;) {
    const std::size_t next = nodes.find("node {", at + 1);
    text += "node_def " + nodes.substr(at + 5, next == std::string::npos ? next : next - at - 5);
    at = next;
  }
  for (std::size_t k = 0; k < results.size(); ++k)
    text += "ret { key: \"r" + std::to_string(k) + "\" value: \"" + results[k] + "\" } ";
  return text + "}\n";
}

// One side has no operand at all: what is constant has its side, too.
TEST(ImportTensorflow, BranchesWithFunctions) {
  const Model model = import(
      placeholder("x") + integer("zero", 0) +
      node("p", "Placeholder", "", "attr { key: \"dtype\" value { type: DT_BOOL } }") +
      node("either", "StatelessIf", "p zero x",
           called("then_branch", "twice") + called("else_branch", "one")) +
      "library { " + function("twice", node("sum", "Add", "x x"), {"sum:z:0"}) +
      function("one",
               node("c", "Const", "",
                    "attr { key: \"value\" value { tensor { dtype: DT_FLOAT tensor_shape { dim { "
                    "size: 2 } } float_val: 1 } } }"),
               {"c:output:0"}) +
      "}");
  EXPECT_TRUE(check_structure(model).empty()) << check_structure(model).front().message;
  const std::string* side =
      find_property(node_named(model.graph, "either/then/sum").metadata, kOriginWhen);
  ASSERT_NE(side, nullptr);
  EXPECT_EQ(*side, "p=1");
  EXPECT_EQ(find_property(node_named(model.graph, "either").metadata, kOriginWhen), nullptr);
  ASSERT_EQ(model.graph.outputs.size(), 1);
  EXPECT_EQ(run(model, {pair(3, 4), make_scalar(ElementType::boolean, 1)}),
            (std::vector<double>{6, 8}));
  EXPECT_EQ(run(model, {pair(3, 4), make_scalar(ElementType::boolean, 0)}),
            (std::vector<double>{1, 1}));
}

TEST(ImportTensorflow, LoopsWithFunctions) {
  const Model model = import(
      placeholder("x") + integer("zero", 0) +
      node("loop", "StatelessWhile", "zero x", called("cond", "less") + called("body", "go")) +
      node("out", "Identity", "loop:1") + "library { " +
      function("less", integer("four", 4) + node("l", "Less", "i four:output:0", "", "DT_INT32"),
               {"l:z:0"}) +
      function("go",
               integer("one", 1) + node("more", "Add", "i one:output:0", "", "DT_INT32") +
                   node("twice", "Add", "x x"),
               {"more:z:0", "twice:z:0"}) +
      "}");
  EXPECT_TRUE(check_structure(model).empty()) << check_structure(model).front().message;
  EXPECT_EQ(node_named(model.graph, "loop::while").op, "Loop");
  const auto outputs = model.graph.outputs;
  ASSERT_EQ(outputs.size(), 2);
  EXPECT_EQ(outputs[1].name, "out");
  Model last = model;
  last.graph.outputs = {outputs[1]};
  EXPECT_EQ(run(last, {pair(1, -3)}), (std::vector<double>{16, -48}));
}

}  // namespace
}  // namespace assay

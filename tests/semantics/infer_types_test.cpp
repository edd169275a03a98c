#include "semantics/infer_types.h"

#include <gtest/gtest.h>

#include "semantics/models.h"

namespace assay {
namespace {

const Dim kBatch = Dim::named("batch");

Known known(const ModelTypes& types, const std::string& name) {
  for (const NamedValueType& value : types.values) {
    if (value.name == name) return *value.known;
  }
  ADD_FAILURE() << "no value " << name;
  return {};
}

std::string type_of(const ModelTypes& types, const std::string& name) {
  return to_text(known(types, name).type);
}

std::vector<std::string> rules(const ModelTypes& types) {
  std::vector<std::string> result;
  for (const NodeRemarks& remarks : types.remarks) {
    for (const Violation& violation : remarks.violations) {
      result.push_back(remarks.layer + " " + violation.rule);
    }
  }
  return result;
}

TEST(InferTypes, KeepsNamedExtents) {
  const Model m = model({node("Transpose", {"x"}, {"t"}), node("Relu", {"t"}, {"y"})},
                        {f32("x", {kBatch, 3})}, {untyped("y")});
  const ModelTypes types = infer_types(m);
  EXPECT_EQ(type_of(types, "y"), "f32[3,batch]");
  EXPECT_EQ(to_text(types.outputs.at(0).type), "f32[3,batch]");
  EXPECT_TRUE(types.remarks.empty());
}

// x of [batch, 3, 4] is flattened by a shape that the graph itself computes.
TEST(InferTypes, FollowsAShapeThroughTheGraph) {
  const Model m = model({node("Shape", {"x"}, {"s"}), node("Gather", {"s", "zero"}, {"n"}),
                         node("Unsqueeze", {"n", "axes"}, {"n1"}),
                         node("Concat", {"n1", "twelve"}, {"to"}, {attribute("axis", 0)}),
                         node("Reshape", {"x", "to"}, {"y"})},
                        {f32("x", {kBatch, 3, 4})}, {untyped("y")},
                        {integer("zero", 0), integers("axes", {0}), integers("twelve", {12})});
  const ModelTypes types = infer_types(m);
  EXPECT_EQ(type_of(types, "y"), "f32[batch,12]");
  ASSERT_TRUE(known(types, "to").extents.has_value());
  EXPECT_EQ(to_text(*known(types, "to").extents), "[batch,12]");
}

// A node is asked about once for all that do not differ from it; these all do, in one thing each.
TEST(InferTypes, TellsNodesApartThatLookAlike) {
  const Model m =
      model({node("Concat", {"x", "x"}, {"a"}, {attribute("axis", 0)}),
             node("Concat", {"x", "x"}, {"b"}, {attribute("axis", 1)}),
             node("Concat", {"x", "x", "x"}, {"c"}, {attribute("axis", 1)}),
             node("Concat", {"z", "z"}, {"d"}, {attribute("axis", 1)}),
             node("Reshape", {"x", "tall"}, {"e"}), node("Reshape", {"x", "wide"}, {"f"}),
             node("Reshape", {"x", "tall"}, {"g"}), node("Shape", {"x"}, {"s"}),
             node("Shape", {"z"}, {"t"})},
            {f32("x", {kBatch, 6}), f32("z", {Dim::named("other"), 6})}, {untyped("a")},
            {integers("tall", {-1, 2}), integers("wide", {2, -1})});
  const ModelTypes types = infer_types(m);
  EXPECT_EQ(type_of(types, "b"), "f32[batch,12]");
  EXPECT_EQ(type_of(types, "c"), "f32[batch,18]");
  EXPECT_EQ(type_of(types, "d"), "f32[other,12]");
  EXPECT_EQ(type_of(types, "e"), "f32[3*batch,2]");
  EXPECT_EQ(type_of(types, "f"), "f32[2,3*batch]");
  EXPECT_EQ(type_of(types, "g"), "f32[3*batch,2]");
  EXPECT_EQ(to_text(*known(types, "s").extents), "[batch,6]");
  EXPECT_EQ(to_text(*known(types, "t").extents), "[other,6]");
}

// What is objected to is told of each of them.
TEST(InferTypes, RemarksOnEveryNodeThatIsWrong) {
  const Model m = model({node("Add", {"x", "y"}, {"a"}), node("Add", {"x", "y"}, {"b"}),
                         node("Add", {"x", "u"}, {"c"}), node("Add", {"x", "u"}, {"d"})},
                        {f32("x", {2}), f32("y", {3}), f32("u", {Dim()})}, {untyped("b")});
  const ModelTypes types = infer_types(m);
  EXPECT_EQ(rules(types),
            (std::vector<std::string>{"make_a Add.broadcast", "make_b Add.broadcast"}));
  ASSERT_EQ(types.remarks.size(), 4);
  EXPECT_EQ(types.remarks[3].undecided.size(), 1);
}

TEST(InferTypes, ComputesWithKnownExtents) {
  const Model m = model(
      {node("Shape", {"x"}, {"s"}), node("Slice", {"s", "one", "three"}, {"tail"}),
       node("Mul", {"tail", "two"}, {"doubled"}), node("ConstantOfShape", {"doubled"}, {"y"})},
      {f32("x", {kBatch, 3, 4})}, {untyped("y")},
      {integers("one", {1}), integers("three", {3}), integers("two", {2})});
  EXPECT_EQ(type_of(infer_types(m), "y"), "f32[6,8]");
}

// What holds for every large extent need not hold for all: 4 is min(batch, 4) only from 4 on.
TEST(InferTypes, DoesNotTakeAnExtentToBeLarge) {
  const Model m =
      model({node("Shape", {"x"}, {"s"}), node("Min", {"s", "four"}, {"least"}),
             node("Max", {"s", "zero"}, {"same"}), node("Equal", {"s", "seven"}, {"is_seven"}),
             node("Sub", {"s", "s"}, {"nothing"}), node("Add", {"s", "four"}, {"more"})},
            {f32("x", {kBatch})}, {untyped("least")},
            {integers("four", {4}), integers("zero", {0}), integers("seven", {7})});
  const ModelTypes types = infer_types(m);
  EXPECT_EQ(to_text(known(types, "least").extents.value_or(Dims{Dim()})), "[?]");
  EXPECT_FALSE(known(types, "least").constant.defined());
  EXPECT_EQ(to_text(known(types, "same").extents.value_or(Dims{})), "[batch]");
  EXPECT_FALSE(known(types, "is_seven").constant.defined());
  ASSERT_TRUE(known(types, "nothing").constant.defined());
  EXPECT_EQ(known(types, "nothing").constant.integer(0), 0);
  EXPECT_EQ(to_text(known(types, "more").extents.value_or(Dims{Dim()})), "[?]");
}

TEST(InferTypes, FoldsSmallConstantsOnly) {
  const Model m = model({node("Add", {"a", "b"}, {"c"}), node("ConstantOfShape", {"n"}, {"large"})},
                        {}, {untyped("c"), untyped("large")},
                        {reals("a", {1, 2}), reals("b", {3, 4}), integers("n", {1 << 20})});
  const ModelTypes types = infer_types(m);
  ASSERT_TRUE(known(types, "c").constant.defined());
  EXPECT_EQ(known(types, "c").constant.reals(), (std::vector<double>{4, 6}));
  EXPECT_FALSE(known(types, "large").constant.defined());
  EXPECT_EQ(type_of(types, "large"), "f32[1048576]");
}

TEST(InferTypes, NeverFoldsWhatIsRandom) {
  const Model m =
      model({node("RandomNormal", {}, {"r"}, {attribute("shape", std::vector<std::int64_t>{2})})},
            {}, {untyped("r")});
  EXPECT_FALSE(known(infer_types(m), "r").constant.defined());
  std::vector<double> halves(100, 0.5);
  const Model coins =
      model({node("Bernoulli", {"p"}, {"b"})}, {}, {untyped("b")}, {reals("p", std::move(halves))});
  EXPECT_FALSE(known(infer_types(coins), "b").constant.defined());
}

TEST(InferTypes, ConstantsThatCannotBeEvaluatedAreAViolation) {
  const Model m = model({node("Gather", {"a", "i"}, {"y"})}, {}, {untyped("y")},
                        {reals("a", {1, 2}), integers("i", {5})});
  EXPECT_EQ(rules(infer_types(m)).size(), 1);
}

TEST(InferTypes, SaysWhatCannotBeDecided) {
  const Model m = model({node("Add", {"x", "w"}, {"y"})}, {f32("x", {kBatch})}, {untyped("y")},
                        {reals("w", {1, 2})});
  const ModelTypes types = infer_types(m);
  ASSERT_EQ(types.remarks.size(), 1);
  EXPECT_TRUE(types.remarks[0].violations.empty());
  EXPECT_FALSE(types.remarks[0].undecided.empty());
}

TEST(InferTypes, GoesOnAfterAViolation) {
  const Model m = model({node("Softmax", {"x"}, {"a"}, {attribute("axis", 5)}),
                         node("Relu", {"x"}, {"b"}), node("Concat", {"a", "b"}, {"y"})},
                        {f32("x", {2})}, {untyped("y")});
  EXPECT_EQ(rules(infer_types(m)), (std::vector<std::string>{"make_a Softmax.axis-range",
                                                             "make_y Concat.attribute-required"}));
}

TEST(InferTypes, ContradictsWhatIsDeclared) {
  Model m = model({node("Relu", {"x"}, {"y"})}, {f32("x", {2, 3})}, {f32("y", {2, 4})});
  EXPECT_EQ(rules(infer_types(m)), std::vector<std::string>{"make_y Graph.declared-shape"});
  m.graph.outputs[0] = i64("y", {2, 3});
  EXPECT_EQ(rules(infer_types(m)), std::vector<std::string>{"make_y Graph.declared-type"});
  m.graph.outputs[0] = f32("y", {2});
  EXPECT_EQ(infer_types(m).remarks.at(0).violations.at(0).kind, "Dimension Error");
  m.graph.outputs[0] = f32("y", {kBatch, Dim()});
  EXPECT_TRUE(infer_types(m).remarks.empty());
}

TEST(InferTypes, TakesFromDeclarationsWhatItCannotInfer) {
  Model m = model({node("Mystery", {"x"}, {"a"}), node("Relu", {"a"}, {"y"})}, {f32("x", {2})},
                  {untyped("y")});
  m.graph.value_info = {f32("a", {7})};
  const ModelTypes types = infer_types(m);
  EXPECT_EQ(type_of(types, "y"), "f32[7]");
  ASSERT_EQ(types.remarks.size(), 1);
  EXPECT_TRUE(types.remarks[0].unknown);
}

TEST(InferTypes, LooksIntoBothBranches) {
  const auto yes =
      graph({node("Softmax", {"x"}, {"t"}, {attribute("axis", 9)})}, {}, {untyped("t")});
  const auto no = graph({node("Relu", {"x"}, {"e"})}, {}, {untyped("e")});
  Model m = model({branch({"y"}, yes, no)}, {boolean("c"), f32("x", {2})}, {untyped("y")});
  EXPECT_EQ(rules(infer_types(m)),
            std::vector<std::string>{"make_y/then_branch/make_t Softmax.axis-range"});
}

// An exporter's "squeeze if the extent is one" is right though one branch could never run.
TEST(InferTypes, IgnoresABranchThatNeverRuns) {
  const auto yes =
      graph({node("Softmax", {"x"}, {"t"}, {attribute("axis", 9)})}, {}, {untyped("t")});
  const auto no = graph({node("Relu", {"x"}, {"e"})}, {}, {untyped("e")});
  Model m = model({node("Shape", {"x"}, {"s"}), node("Equal", {"s", "one"}, {"is_one"}),
                   node("Squeeze", {"is_one"}, {"c"}), branch({"y"}, yes, no)},
                  {f32("x", {2})}, {untyped("y")}, {integers("one", {1})});
  const ModelTypes types = infer_types(m);
  EXPECT_TRUE(rules(types).empty());
  EXPECT_EQ(type_of(types, "y"), "f32[2]");
}

TEST(InferTypes, LooksIntoFunctions) {
  Model m = model({node("Twice", {"x"}, {"y"})}, {f32("x", {kBatch, 2})}, {untyped("y")});
  m.graph.nodes[0].domain = "own";
  m.opsets["own"] = 1;
  Function twice;
  twice.domain = "own";
  twice.name = "Twice";
  twice.inputs = {"a"};
  twice.outputs = {"b"};
  twice.attributes = {"axis"};
  Node concat = node("Concat", {"a", "a"}, {"b"});
  concat.attributes.push_back({"axis", AttributeReference{"axis", 2}});
  twice.nodes = {concat};
  twice.opsets = {{"", 21}};
  m.functions = {twice};
  m.graph.nodes[0].set("axis", std::int64_t{1});
  EXPECT_EQ(type_of(infer_types(m), "y"), "f32[batch,4]");
  EXPECT_EQ(type_of(infer_types(m), "make_y/Twice/b"), "f32[batch,4]");
  m.graph.nodes[0].set("axis", std::int64_t{4});
  EXPECT_EQ(rules(infer_types(m)).size(), 1);
  EXPECT_EQ(rules(infer_types(m)).at(0).substr(0, 20), "make_y/Twice/make_b ");
}

TEST(InferTypes, AnOverflowingSizeIsAViolation) {
  const Model m = model({node("ConstantOfShape", {"n"}, {"y"})}, {}, {untyped("y")},
                        {integers("n", {std::int64_t{1} << 40, std::int64_t{1} << 40})});
  EXPECT_EQ(rules(infer_types(m)).size(), 1);
}

TEST(InferTypes, TakesMoreAboutInputs) {
  const Model m = model({node("Relu", {"x"}, {"y"})}, {f32("x", {kBatch, 2})}, {untyped("y")});
  TypeOptions options;
  options.inputs["x"] = ValueType::tensor(ElementType::f32, {5, 2});
  EXPECT_EQ(type_of(infer_types(m, options), "y"), "f32[5,2]");
}

}  // namespace
}  // namespace assay

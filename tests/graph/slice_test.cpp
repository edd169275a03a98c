// Parts of a model as models of their own.
#include "graph/slice.h"

#include <gtest/gtest.h>

#include "graph/make_node.h"

namespace assay {
namespace {

using Strings = std::vector<std::string>;

Value number(double value) { return make_scalar(ElementType::f32, value); }

template <class T>
Strings names(const std::vector<T>& named) {
  Strings found;
  for (const T& one : named) found.push_back(one.name);
  return found;
}

// x -> a -> b -> c -> y, where b also reads a weight, c a value that is folded from a weight, and d
// reads a beside them.
Model make_model() {
  Model model;
  model.opsets[""] = 21;
  const ValueType real = ValueType::tensor(ElementType::f32, {});
  model.graph.inputs = {{"x", ValueType::tensor(ElementType::f32)}};
  model.graph.outputs = {{"y", real}, {"z", real}};
  model.graph.initializers = {{"w", make_scalar(ElementType::f32, 3)}};
  model.graph.nodes = {make_node("Neg", {"w"}, {"folded"}), make_node("Abs", {"x"}, {"a"}),
                       make_node("Mul", {"a", "w"}, {"b"}),
                       make_node("Add", {"b", "folded"}, {"y"}), make_node("Exp", {"a"}, {"z"})};
  return model;
}

const ValuesByName kValues = {{"x", number(1)}, {"folded", number(-3)}, {"a", number(1)},
                              {"b", number(3)}, {"y", number(0)},       {"z", number(2.7)}};

TEST(Slice, ReadsWhatItDoesNotMake) {
  const auto part = slice(make_model(), {2, 3}, kValues);
  ASSERT_TRUE(part);
  EXPECT_EQ(names(part->graph.inputs), Strings{"a"});
  EXPECT_EQ(names(part->graph.outputs), Strings{"y"});
  EXPECT_EQ(part->graph.name, "Mul_Add");
  EXPECT_EQ(part->opsets.at(""), 21);
}

TEST(Slice, KeepsConstantsConstant) {
  const auto part = slice(make_model(), {2, 3}, kValues);
  ASSERT_TRUE(part);
  ASSERT_EQ(names(part->graph.initializers), (Strings{"w", "folded"}));
  EXPECT_EQ(part->graph.initializers[1].tensor.reals(), std::vector<double>{-3});
}

TEST(Slice, AnswersWhatOthersRead) {
  const auto part = slice(make_model(), {1, 2}, kValues);
  ASSERT_TRUE(part);
  EXPECT_EQ(names(part->graph.inputs), Strings{"x"});
  EXPECT_FALSE(part->graph.inputs[0].type.dims);  // as the model declares it
  EXPECT_EQ(names(part->graph.outputs), (Strings{"a", "b"}));
}

TEST(Slice, ReadsWhatItsSubgraphsCapture) {
  Model model = make_model();
  Graph body;
  body.nodes = {make_node("Add", {"a", "b"}, {"inner"})};
  body.outputs = {{"inner", ValueType::tensor(ElementType::f32)}};
  Node choose = make_node("If", {"x"}, {"y"});
  choose.set("then_branch", std::make_shared<const Graph>(body));
  model.graph.nodes[3] = choose;
  const auto part = slice(model, {3}, kValues);
  ASSERT_TRUE(part);
  EXPECT_EQ(names(part->graph.inputs), (Strings{"x", "a", "b"}));
}

TEST(Slice, IsNoneWithoutAValueOrAReader) {
  ValuesByName values = kValues;
  values.erase("a");
  EXPECT_FALSE(slice(make_model(), {2, 3}, values));
  Model model = make_model();
  model.graph.outputs.pop_back();
  EXPECT_FALSE(slice(model, {4}, kValues));
}

}  // namespace
}  // namespace assay

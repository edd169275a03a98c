// The table of schemas that is made from the pinned onnx wheel.
#include "ops/schema.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

namespace assay {
namespace {

auto key(const Schema& s) { return std::tuple(s.domain, s.name, s.since_version); }

TEST(Schema, TableIsWholeAndSorted) {
  EXPECT_EQ(schemas().size(), 659u);
  EXPECT_TRUE(std::ranges::is_sorted(schemas(), {}, key));
  std::set<std::string_view> standard;
  for (const Schema& s : schemas())
    if (s.domain.empty()) standard.insert(s.name);
  // The 203 of opset 28 and those that ended before it.
  EXPECT_GE(standard.size(), 203u);
}

TEST(Schema, FindsTheNewestVersionThatTheOpsetKnows) {
  for (const auto& [opset, version] : {std::pair(1, 1), {6, 1}, {7, 7}, {12, 11}, {28, 22}}) {
    const Schema* found = find_schema("", "AveragePool", opset);
    ASSERT_NE(found, nullptr) << opset;
    EXPECT_EQ(found->since_version, version) << opset;
  }
}

TEST(Schema, AnswersNothingForWhatIsNotThere) {
  EXPECT_EQ(find_schema("", "AveragePool", 0), nullptr);
  EXPECT_EQ(find_schema("", "Averagepool", 28), nullptr);
  EXPECT_EQ(find_schema("", "Swish", 23), nullptr);
  EXPECT_EQ(find_schema("no.such", "Add", 28), nullptr);
  EXPECT_EQ(find_schema("zz", "zz", 28), nullptr);
}

TEST(Schema, TheLongNameOfTheDefaultDomainIsTheShortOne) {
  EXPECT_EQ(find_schema("ai.onnx", "Add", 14), find_schema("", "Add", 14));
}

TEST(Schema, EveryVersionFindsItself) {
  for (const Schema& s : schemas())
    EXPECT_EQ(find_schema(s.domain, s.name, s.since_version), &s) << s.name << s.since_version;
}

TEST(Schema, KeepsTheFormOfTheParameters) {
  const Schema* concat = find_schema("", "Concat", 13);
  ASSERT_NE(concat, nullptr);
  ASSERT_EQ(concat->inputs.size(), 1u);
  EXPECT_EQ(concat->inputs[0].arity, Arity::variadic);
  EXPECT_EQ(concat->inputs[0].type, "T");
  EXPECT_EQ(concat->max_inputs, kNoLimit);
  EXPECT_TRUE(concat->find_attribute("axis")->required);
  ASSERT_NE(concat->find_constraint("T"), nullptr);
  EXPECT_NE(std::ranges::find(concat->find_constraint("T")->allowed, "tensor(string)"),
            concat->find_constraint("T")->allowed.end());
  EXPECT_EQ(concat->find_constraint("U"), nullptr);
  EXPECT_EQ(find_schema("", "Clip", 13)->inputs[1].arity, Arity::optional);
}

TEST(Schema, KeepsTheDefaultsOfTheAttributes) {
  const Schema* pool = find_schema("", "AveragePool", 22);
  EXPECT_EQ(pool->find_attribute("auto_pad")->text, "NOTSET");
  EXPECT_FALSE(pool->find_attribute("pads")->has_default);
  EXPECT_EQ(pool->find_attribute("pad"), nullptr);
  const AttributeFormal* epsilon =
      find_schema("", "BatchNormalization", 15)->find_attribute("epsilon");
  EXPECT_EQ(epsilon->kind, AttributeKind::real);
  EXPECT_EQ(epsilon->real, static_cast<double>(1e-5f));
  const AttributeFormal* activations = find_schema("", "LSTM", 14)->find_attribute("activations");
  EXPECT_EQ(activations->kind, AttributeKind::texts);
}

TEST(Schema, ADeprecatedVersionSaysSo) {
  EXPECT_TRUE(find_schema("", "Upsample", 10)->deprecated);
  EXPECT_FALSE(find_schema("", "Upsample", 9)->deprecated);
}

}  // namespace
}  // namespace assay

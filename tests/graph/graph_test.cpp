// Attributes, functions and names of nodes.
#include "graph/graph.h"

#include <gtest/gtest.h>

#include "graph/names.h"

namespace assay {
namespace {

TEST(Node, FindsAndReplacesAttributes) {
  Node node;
  EXPECT_EQ(node.find("axis"), nullptr);
  node.set("axis", std::int64_t{1});
  node.set("axis", std::int64_t{2});
  ASSERT_EQ(node.attributes.size(), 1U);
  EXPECT_EQ(std::get<std::int64_t>(*node.find("axis")), 2);
}

TEST(Model, TellsFunctionsApartByDomainAndOverload) {
  Model model;
  for (const char* overload : {"", "wide"}) {
    Function function;
    function.domain = "local";
    function.name = "f";
    function.overload = overload;
    model.functions.push_back(function);
  }
  EXPECT_EQ(model.find_function("local", "f", "wide"), &model.functions[1]);
  EXPECT_EQ(model.find_function("local", "f", ""), &model.functions[0]);
  EXPECT_EQ(model.find_function("", "f", ""), nullptr);
}

TEST(DisplayName, PrefersTheNameThenTheFirstOutput) {
  Node node;
  EXPECT_EQ(display_name(node, 4), "node#4");
  node.op = "Relu";
  EXPECT_EQ(display_name(node, 4), "Relu#4");
  node.outputs = {"", "y"};
  EXPECT_EQ(display_name(node, 4), "y");
  node.name = "first";
  EXPECT_EQ(display_name(node, 4), "first");
}

TEST(Names, StayOnOneLine) {
  EXPECT_EQ(in_quotes("a\nb"), "'a\\x0ab'");
  EXPECT_EQ(in_quotes("größe"), "'größe'");
  EXPECT_EQ(in_quotes("\xff!"), "'\\xff!'");
  EXPECT_LT(in_quotes(std::string(100000, 'x')).size(), 1000U);
}

TEST(Names, KnowUtf8) {
  EXPECT_TRUE(is_utf8("größe €😀"));
  EXPECT_FALSE(is_utf8("\xc3"));              // ends inside a character
  EXPECT_FALSE(is_utf8("\xc0\x80"));          // overlong
  EXPECT_FALSE(is_utf8("\xed\xa0\x80"));      // half of a surrogate pair
  EXPECT_FALSE(is_utf8("\xf4\x90\x80\x80"));  // beyond the last character
  EXPECT_EQ(to_utf8("a\xff"
                    "b"),
            "a\uFFFDb");
}

}  // namespace
}  // namespace assay

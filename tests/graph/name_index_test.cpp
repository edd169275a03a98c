#include "graph/name_index.h"

#include <string>

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(NameIndex, NumbersNamesAsTheyCome) {
  NameIndex index;
  EXPECT_EQ(index.find("a"), -1);
  EXPECT_EQ(index.add("a"), std::make_pair(0, true));
  EXPECT_EQ(index.add(""), std::make_pair(1, true));
  EXPECT_EQ(index.add("a"), std::make_pair(0, false));
  EXPECT_EQ(index.add(std::string_view("a\0b", 3)), std::make_pair(2, true));
  EXPECT_EQ(index.find(""), 1);
  EXPECT_EQ(index.size(), 3U);
  index.clear();
  EXPECT_FALSE(index.contains("a"));
  EXPECT_EQ(index.add("b"), std::make_pair(0, true));
}

TEST(NameIndex, TakesAnEmptyNameFirst) {
  for (const auto names : {NameIndex::Names::outlive, NameIndex::Names::copied}) {
    NameIndex index(names);
    EXPECT_EQ(index.add({}), std::make_pair(0, true));
    EXPECT_EQ(index.add("a"), std::make_pair(1, true));
    EXPECT_EQ(index.find(""), 0);
  }
}

// Beyond some number of them names are hashed, and copies lie in several pieces.
TEST(NameIndex, KeepsManyNames) {
  constexpr int kNames = 20000;
  NameIndex index(NameIndex::Names::copied);
  const auto name = [](int i) { return "a/long/common/prefix/" + std::to_string(i); };
  for (int i = 0; i < kNames; ++i) ASSERT_EQ(index.add(name(i)), std::make_pair(i, true));
  const std::string huge(200000, 'x');
  EXPECT_EQ(index.add(huge), std::make_pair(kNames, true));
  for (int i = 0; i < kNames; ++i) {
    ASSERT_EQ(index.find(name(i)), i);
    ASSERT_EQ(index.add(name(i)), std::make_pair(i, false));
  }
  EXPECT_EQ(index.find(huge), kNames);
  EXPECT_EQ(index.add({}), std::make_pair(kNames + 1, true));
  EXPECT_FALSE(index.contains(name(kNames)));
}

}  // namespace
}  // namespace assay

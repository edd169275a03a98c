#include "base/chunked.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(ChunkedTest, KeepsElementsWhereTheyAreWhileItGrows) {
  Chunked<std::string> list;
  EXPECT_TRUE(list.empty());
  list.push_back("0");
  const std::string* const first = &list[0];
  for (int i = 1; i < 5000; ++i) list.push_back(std::to_string(i));
  EXPECT_EQ(first, &list[0]);
  ASSERT_EQ(list.size(), 5000U);
  int next = 0;
  for (const std::string& one : std::as_const(list)) ASSERT_EQ(one, std::to_string(next++));
  EXPECT_EQ(next, 5000);
}

TEST(ChunkedTest, GrowsByDefaultElementsAndNeverShrinks) {
  Chunked<int> list;
  list.grow(3000);
  list[2999] = 7;
  list.grow(10);
  EXPECT_EQ(list.size(), 3000U);
  for (std::size_t i = 0; i < 2999; ++i) ASSERT_EQ(list[i], 0) << i;
  EXPECT_EQ(list[2999], 7);
}

TEST(ChunkedTest, IsEmptyAfterItWasMoved) {
  Chunked<int> list;
  for (int i = 0; i < 100; ++i) list.push_back(i);
  Chunked<int> other = std::move(list);
  EXPECT_EQ(other.size(), 100U);
  EXPECT_EQ(list.size(), 0U);  // NOLINT(bugprone-use-after-move)
  list = std::move(other);
  EXPECT_EQ(list[99], 99);
  EXPECT_TRUE(other.empty());  // NOLINT(bugprone-use-after-move)
}

}  // namespace
}  // namespace assay

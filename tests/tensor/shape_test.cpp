#include "tensor/shape.h"

#include <gtest/gtest.h>

#include "base/check.h"

namespace assay {
namespace {

constexpr std::int64_t kHuge = std::int64_t{1} << 62;

TEST(Shape, CountsWithoutOverflow) {
  EXPECT_EQ(checked_element_count(Shape{}), 1);
  EXPECT_EQ(checked_element_count(Shape{2, 3, 4}), 24);
  EXPECT_EQ(checked_element_count(Shape{3, 0}), 0);
  EXPECT_EQ(checked_element_count(Shape{kHuge}), kHuge);
  EXPECT_EQ(checked_element_count(Shape{kHuge, 2}), std::nullopt);
  EXPECT_EQ(checked_element_count(Shape{kHuge, kHuge, 0}), 0);
  EXPECT_EQ(checked_element_count(Shape{-1}), std::nullopt);
  EXPECT_EQ(checked_element_count(Shape{0, -1}), std::nullopt);
  EXPECT_EQ(element_count(Shape{5}), 5);
  EXPECT_THROW(element_count(Shape{-5}), Defect);
}

TEST(Shape, StridesAreRowMajor) {
  EXPECT_EQ(strides_of(Shape{2, 3, 4}), (Shape{12, 4, 1}));
  EXPECT_EQ(strides_of(Shape{}), Shape{});
  EXPECT_EQ(strides_of(Shape{kHuge, kHuge, 0}).back(), 1);
}

TEST(Shape, BroadcastsInBothDirections) {
  EXPECT_EQ(broadcast(Shape{2, 1, 4}, Shape{3, 1}), (Shape{2, 3, 4}));
  EXPECT_EQ(broadcast(Shape{3, 1}, Shape{2, 1, 4}), (Shape{2, 3, 4}));
  EXPECT_EQ(broadcast(Shape{}, Shape{5}), Shape{5});
  EXPECT_EQ(broadcast(Shape{1}, Shape{0}), Shape{0});
  EXPECT_EQ(broadcast(Shape{2}, Shape{0}), std::nullopt);
  EXPECT_EQ(broadcast(Shape{2, 3}, Shape{2}), std::nullopt);
}

TEST(Shape, BroadcastStridesReadTheSmallerShape) {
  EXPECT_EQ(broadcast_strides(Shape{3, 1}, Shape{2, 3, 4}), (Shape{0, 1, 0}));
  EXPECT_EQ(broadcast_strides(Shape{2, 1, 4}, Shape{2, 1, 4}), strides_of(Shape{2, 1, 4}));
  EXPECT_THROW(broadcast_strides(Shape{2}, Shape{3}), Defect);
  EXPECT_THROW(broadcast_strides(Shape{1, 1}, Shape{1}), Defect);
}

TEST(Shape, PrintsAsAList) {
  EXPECT_EQ(to_text(Shape{1, 3, 224, 224}), "[1,3,224,224]");
  EXPECT_EQ(to_text(Shape{}), "[]");
}

}  // namespace
}  // namespace assay

// Difference images: small, true to the largest difference, and honest about what is no number.
#include "report/difference_image.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace assay {
namespace {

Tensor floats(Shape shape, const std::vector<double>& values) {
  return make_tensor(ElementType::f32, std::move(shape), values);
}

TEST(DifferenceImage, IsNothingWhereNothingDiffers) {
  const Tensor a = floats({2, 2}, {1, 2, 3, 4});
  EXPECT_FALSE(difference_image(a, a, 64));
  EXPECT_FALSE(difference_image(a, floats({4}, {1, 2, 3, 5}), 64));
  EXPECT_FALSE(difference_image(floats({0, 2}, {}), floats({0, 2}, {}), 64));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(difference_image(floats({1}, {nan}), floats({1}, {nan}), 64));
}

TEST(DifferenceImage, CountsHalfPowersOfTenBelowTheLargest) {
  const auto image = difference_image(floats({2, 3}, {0, 0, 0, 0, 0, 0}),
                                      floats({2, 3}, {1, 0.5, 0.05, 1e-9, 0, 0}), 64);
  ASSERT_TRUE(image);
  EXPECT_EQ(image->cells, "997100");
  EXPECT_EQ(image->rows, 2);
  EXPECT_EQ(image->columns, 3);
  EXPECT_EQ(image->at, 0);
  EXPECT_FLOAT_EQ(static_cast<float>(image->largest), 1);
}

TEST(DifferenceImage, MarksWhereOnlyOneIsANumber) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto image = difference_image(floats({1, 3}, {1, nan, 2}), floats({1, 3}, {1, 1, 3}), 64);
  ASSERT_TRUE(image);
  EXPECT_EQ(image->cells, "0!9");
  EXPECT_TRUE(std::isinf(image->largest));
  EXPECT_EQ(image->at, 1);
}

TEST(DifferenceImage, KeepsTheLargestOfEachCellWhenItShrinks) {
  std::vector<double> zeros(300 * 200, 0), one = zeros;
  one[299 * 200 + 199] = 5;
  const auto image = difference_image(floats({3, 100, 200}, zeros), floats({3, 100, 200}, one), 64);
  ASSERT_TRUE(image);
  EXPECT_EQ(image->height, 64);
  EXPECT_EQ(image->width, 64);
  EXPECT_EQ(image->cells.size(), 64U * 64U);
  EXPECT_EQ(image->cells.back(), '9');
  EXPECT_EQ(image->cells.find('9'), image->cells.size() - 1);
}

TEST(DifferenceImage, FoldsALongRow) {
  const std::vector<double> zeros(10'000, 0);
  std::vector<double> one = zeros;
  one.back() = 1;
  const auto image = difference_image(floats({10'000}, zeros), floats({10'000}, one), 64);
  ASSERT_TRUE(image);
  EXPECT_EQ(image->columns, 100);
  EXPECT_EQ(image->rows, 100);
  EXPECT_EQ(image->cells.back(), '9');
}

}  // namespace
}  // namespace assay

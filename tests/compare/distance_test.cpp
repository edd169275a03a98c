#include "compare/distance.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace assay {
namespace {

using Numbers = std::vector<double>;

TEST(ClassDistance, FirstAgainstOutsideTheFirstFiveIsSixteen) {
  const Numbers first = {9, 1, 2, 3, 4, 5, 6}, last = {0, 1, 2, 3, 4, 5, 6};
  EXPECT_EQ(class_distance(first, last, 0), 16);
  EXPECT_EQ(class_distance(first, first, 0), 0);
  EXPECT_EQ(class_distance(first, last, 6), 8);  // second on one side, first on the other
}

TEST(ClassDistance, EqualScoresRankByIndex) {
  EXPECT_EQ(class_distance(Numbers{1, 1, 1}, Numbers{0, 0, 1}, 2), 12);  // third against first
}

TEST(ClassDistance, AScoreThatIsNoNumberIsNowhere) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(class_distance(Numbers{nan, 0}, Numbers{1, 0}, 0), 16);
}

TEST(MadDistance, IsTheRelativeDifferenceOfTheErrors) {
  EXPECT_DOUBLE_EQ(mad_distance(Numbers{1, 1}, Numbers{3, 3}, Numbers{0, 0}), 0.5);
  EXPECT_EQ(mad_distance(Numbers{1, 2}, Numbers{1, 2}, Numbers{1, 2}), 0);
  EXPECT_EQ(mad_distance(Numbers{1, 2}, Numbers{1, 3}, Numbers{1, 2}), 1);
}

TEST(MadDistance, OneThatIsNoNumberIsAsFarAsCanBe) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(mad_distance(Numbers{nan}, Numbers{1}, Numbers{0}), 1);
  EXPECT_EQ(mad_distance(Numbers{nan}, Numbers{nan}, Numbers{0}), 0);
}

TEST(Pattern, CountsDistancesInBins) {
  EXPECT_EQ(pattern_of(Metric::mad, Numbers{0, 0.1, 0.3, 1}, 0.2),
            (std::vector<std::int64_t>{2, 1, 0, 0, 1}));
  const std::vector<std::int64_t> bins = pattern_of(Metric::class_rank, Numbers{0, 16, 16}, 8);
  EXPECT_EQ(bins.size(), 17U);
  EXPECT_EQ(bins[16], 2);
  EXPECT_EQ(pattern_of(Metric::bound, Numbers{0, 0.5, 3}, 1), (std::vector<std::int64_t>{2, 1}));
}

TEST(VectorDistances, AreThoseOfTheDifferenceAndOfTheAngle) {
  EXPECT_DOUBLE_EQ(l2_distance(Numbers{3, 5}, Numbers{3, 1}, Numbers{0, 2}), 2);
  EXPECT_EQ(l2_distance(Numbers{0}, Numbers{0}, Numbers{0}), 0);
  EXPECT_TRUE(std::isinf(l2_distance(Numbers{1}, Numbers{0}, Numbers{0})));
  EXPECT_DOUBLE_EQ(cosine_distance(Numbers{1, 0}, Numbers{0, 2}), 1);
  EXPECT_EQ(cosine_distance(Numbers{1, 2}, Numbers{2, 4}), 0);
  EXPECT_EQ(cosine_distance(Numbers{0, 0}, Numbers{0, 0}), 0);
}

TEST(VectorDistances, OneThatIsNoNumberIsAsFarAsCanBe) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isinf(l2_distance(Numbers{nan}, Numbers{1}, Numbers{1})));
  EXPECT_EQ(cosine_distance(Numbers{nan}, Numbers{1}), 2);
}

TEST(Metrics, AreKnownByName) {
  for (const Metric metric :
       {Metric::bound, Metric::mad, Metric::class_rank, Metric::l2, Metric::cosine}) {
    EXPECT_EQ(find_metric(to_text(metric)), metric);
  }
  EXPECT_FALSE(find_metric("euclid"));
}

}  // namespace
}  // namespace assay

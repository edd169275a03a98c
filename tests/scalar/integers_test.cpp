// Integers: wrapping, and the results that C++ leaves undefined.
#include "scalar/integers.h"

#include <limits>

#include <gtest/gtest.h>

#include "scalar/sequences.h"

namespace assay {
namespace {

constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
using I = std::int64_t;
using U = std::uint64_t;

TEST(Integers, DivisionIsDefinedEverywhere) {
  static_assert(divide(I{7}, I{-2}) == -3);
  static_assert(divide(I{7}, I{0}) == 0);
  static_assert(divide(kLeast, I{-1}) == kLeast);
  static_assert(divide(U{7}, U{0}) == 0);
  static_assert(fmod(I{-7}, I{3}) == -1);
  static_assert(fmod(kLeast, I{-1}) == 0);
  static_assert(floor_mod(I{-7}, I{3}) == 2);
  static_assert(floor_mod(I{7}, I{-3}) == -2);
  static_assert(floor_mod(I{7}, I{0}) == 0);
  EXPECT_EQ(divide(7.0, 2.0), 3.5);
}

TEST(Integers, PowersWrap) {
  static_assert(pow(I{-3}, I{3}) == -27);
  static_assert(pow(I{2}, I{64}) == 0);
  static_assert(pow(I{2}, I{63}) == kLeast);
  static_assert(pow(I{2}, I{-1}) == 0);
  static_assert(pow(I{-1}, I{-3}) == -1);
  static_assert(pow(I{0}, I{0}) == 1);
  static_assert(pow(U{3}, U{40}) == 12157665459056928801U);
  EXPECT_EQ(pow(2.0, 0.5), std::sqrt(2.0));
}

TEST(Integers, TheRestOfTheVocabulary) {
  static_assert(abs(kLeast) == kLeast && abs(I{-5}) == 5 && abs(U{5}) == 5);
  static_assert(sign(I{-5}) == -1 && sign(U{5}) == 1 && sign(I{0}) == 0);
  static_assert(max(I{-1}, I{1}) == 1 && min(U{0}, U{1}) == 0 && max(false, true));
  static_assert(floor(I{3}) == 3 && round_even(U{3}) == 3);
  EXPECT_EQ(clamp(I{9}, I{-1}, I{5}), 5);
  EXPECT_TRUE(less(I{-1}, I{0}) && !less(U{1}, U{0}) && !is_nan(I{0}) && !is_infinite(U{0}));
  EXPECT_EQ(constant<I>(-3.0), -3);
  EXPECT_EQ(index_candidates(~U{0}).first, kMost);
}

TEST(Integers, SequencesWrap) {
  const std::vector<I> x = {kMost, 1, 2};
  EXPECT_EQ(sum(x), kLeast + 2);
  EXPECT_EQ(product(x), -2);
  EXPECT_EQ(dot(x, x), 1 + 1 + 4);
  EXPECT_EQ(sum_of_squares(x), 6);
  EXPECT_EQ(sum_of_absolutes(std::vector<I>{-3, 4}), 7);
  EXPECT_EQ(mean(std::vector<I>{-3, 4, 0, -8}), -1);
  EXPECT_EQ(maximum(x), kMost);
  EXPECT_EQ(minimum(std::vector<U>{3, 2}), 2U);
  const std::vector<I> none;
  EXPECT_EQ(sum(none), 0);
  EXPECT_EQ(mean(none), 0);
  EXPECT_EQ(maximum(none), kLeast);
  const bool bits[] = {false, true};
  EXPECT_TRUE(maximum(bits) && !minimum(bits));
}

}  // namespace
}  // namespace assay

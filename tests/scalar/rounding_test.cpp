// Formats: their numbers, their errors and their scope.
#include "scalar/rounding.h"

#include <thread>

#include <gtest/gtest.h>

#include "honest.h"

namespace assay::testing {
namespace {

TEST(Rounding, KnowsTheNumbersOfAFormat) {
  const Rounding& half = Rounding::f16();
  EXPECT_TRUE(half.holds(65504));
  EXPECT_FALSE(half.holds(65536));
  EXPECT_FALSE(half.holds(2049));
  EXPECT_TRUE(half.holds(2050));
  EXPECT_TRUE(half.holds(0x1p-24));
  EXPECT_FALSE(half.holds(0x1p-25));
  EXPECT_FALSE(half.holds(0x1.8p-24));
  EXPECT_FALSE(flushing(half).holds(0x1p-24));
  EXPECT_FALSE(half.holds(kInf));
  EXPECT_FALSE(half.holds(kNan));
  EXPECT_TRUE(Rounding::f64().holds(0x1p-1074));
  EXPECT_TRUE(Rounding::bf16().holds(0x1.fep127));
  EXPECT_TRUE(Rounding::of(3, -14, 57344).holds(57344));
}

TEST(Rounding, HoldsWhatFloatHolds) {
  for (int i = 0; i < 100000; ++i) {
    const double x = number(Rounding::f64());
    ASSERT_EQ(Rounding::f32().holds(x), std::isfinite(static_cast<float>(x)) &&
                                            static_cast<double>(static_cast<float>(x)) == x);
    ASSERT_TRUE(Rounding::f32().holds(nearest(Rounding::f32(), uniform(-1e38, 1e38))));
  }
}

// A hair below the middle of two subnormals, f32 gives the middle, and f16 then the far one.
TEST(Rounding, AllowsForRoundingTwice) {
  const Rounding& half = Rounding::f16();
  const double exact = 1.5 * 0x1p-24 * (1 - 0x1p-40);
  const double twice = nearest(half, static_cast<float>(exact));
  EXPECT_GT(std::fabs(twice - exact), 0x1p-25);
  EXPECT_LE(std::fabs(twice - exact), half.error(Operation::multiply, 0));
}

TEST(Rounding, Accumulation) {
  EXPECT_NEAR(Rounding::f32().accumulation(1000), 1000 * 0x1p-24, 0.02 * 1000 * 0x1p-24);
  EXPECT_EQ(Rounding::f16().accumulation(2048), kInf);
  const Rounding wide = Rounding::f16().accumulating_in(Rounding::f32());
  EXPECT_TRUE(wide.accumulates_wider());
  EXPECT_EQ(wide.accumulation(2048), Rounding::f32().accumulation(2048));
  EXPECT_FALSE(wide.of_partial_sums().accumulates_wider());
}

TEST(Rounding, ScopesNestAndBelongToAThread) {
  EXPECT_EQ(rounding().unit, Rounding::f32().unit);
  {
    const RoundingScope outer(Rounding::f64());
    {
      const RoundingScope inner(Rounding::f16());
      EXPECT_EQ(rounding().unit, 0x1p-11);
      double elsewhere = 0;
      std::thread([&] { elsewhere = rounding().unit; }).join();
      EXPECT_EQ(elsewhere, 0x1p-24);
    }
    EXPECT_EQ(rounding().unit, 0x1p-53);
  }
  EXPECT_EQ(rounding().unit, 0x1p-24);
}

TEST(Rounding, ProfilesWidenTheirFunction) {
  Rounding profile = Rounding::f32();
  profile.functions[static_cast<std::size_t>(Operation::sigmoid)].absolute = 1.4e-7;
  profile.functions[static_cast<std::size_t>(Operation::divide)].ulps = 2;
  const RoundingScope scope(profile);
  EXPECT_TRUE(sigmoid(Bounded{-9, 0}).contains(sigmoid(-9.0) + 1.39e-7));
  EXPECT_TRUE(sigmoid(Interval::point(-9)).contains(sigmoid(-9.0) + 1.39e-7));
  EXPECT_GE(sigmoid(Interval::point(-20)).low, 0);
  EXPECT_FALSE((Bounded{4, 0} / Bounded{2, 0}).is_exact()) << "not correctly rounded any more";
  EXPECT_TRUE((Interval::point(4) / Interval::point(2)).contains(2 + 0x1.8p-22));
}

}  // namespace
}  // namespace assay::testing

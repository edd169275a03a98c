// Intervals: ends, infinities, NaN and zero divisors.
#include "scalar/interval.h"

#include <gtest/gtest.h>

#include "honest.h"

namespace assay::testing {
namespace {

bool same(const Interval& a, const Interval& b) {
  return a.low == b.low && a.high == b.high && a.nan == b.nan;
}

TEST(Interval, EndsThatTheFormatHoldsAreKept) {
  const RoundingScope scope(Rounding::f32());
  EXPECT_TRUE(same(Interval{0, 10, false} - Interval{0, 10, false}, {-10, 10, false}));
  EXPECT_TRUE(same(Interval{-2, 3, false} * Interval{-4, 5, false}, {-12, 15, false}));
  EXPECT_TRUE(same(Interval{1, 3, false} / Interval{2, 4, false}, {0.25, 1.5, false}));
}

TEST(Interval, OtherEndsMoveByTheFormat) {
  const RoundingScope scope(Rounding::f32());
  const Interval third = Interval::point(1) / Interval::point(3);
  EXPECT_TRUE(third.contains(1.0F / 3.0F));
  EXPECT_LT(third.high - third.low, 2.1 * 0x1p-24 / 3);
  const RoundingScope half(Rounding::bf16());
  EXPECT_GT((Interval::point(1) / Interval::point(3)).high, 1.0 / 3 + 0.9 * 0x1p-8 / 3);
}

TEST(Interval, RoundingDoesNotChangeASign) {
  const RoundingScope scope(Rounding::f32());
  const Interval small{0x1p-140, 1, false};
  EXPECT_EQ((small * small).low, 0);
  EXPECT_EQ((-small * small).high, 0);
  EXPECT_LT((Interval::point(-1e-200) * Interval::point(1e-200)).low, 0) << "underflow in double";
}

TEST(Interval, InfinitiesGiveNaNOnlyWhereTheyMeet) {
  const Interval all{-kInf, kInf, false};
  EXPECT_TRUE((all - all).nan);
  EXPECT_FALSE((all + Interval{0, 1, false}).nan);
  EXPECT_TRUE((all * Interval{0, 1, false}).nan);
  EXPECT_FALSE((all * Interval{1, 2, false}).nan);
  EXPECT_TRUE((all / all).nan);
  EXPECT_TRUE(same(Interval{-kInf, 5, false} + Interval::point(kInf), {kInf, kInf, true}));
  EXPECT_FALSE((Interval::point(kInf) - Interval::point(kInf)).has_number());
  EXPECT_TRUE((all * Interval::point(0)).contains(0.0));
  EXPECT_TRUE((all / Interval::point(kInf)).contains(0.0));
}

TEST(Interval, DivisionThroughZeroGivesBothInfinities) {
  const Interval one = Interval::point(1);
  EXPECT_TRUE(same(one / Interval{0, 2, false}, {-kInf, kInf, false}));
  EXPECT_TRUE(same(one / Interval::point(0), {-kInf, kInf, false}));
  EXPECT_TRUE((Interval{0, 1, false} / Interval{0, 2, false}).nan);
  EXPECT_TRUE(same(Interval::point(0) / Interval{0, 2, false}, {0, 0, true}));
  EXPECT_FALSE((Interval::point(0) / Interval::point(0)).has_number());
}

TEST(Interval, OverflowReachesInfinity) {
  const RoundingScope scope(Rounding::f16());
  const Interval large = Interval{1, 60000, false} + Interval{1, 60000, false};
  EXPECT_EQ(large.high, kInf);
  EXPECT_EQ(large.low, 2);
  const Interval beyond = Interval::point(60000) * Interval::point(60000);
  EXPECT_TRUE(beyond.contains(kInf) && beyond.contains(3.6e9)) << "a wider evaluation keeps it";
  EXPECT_FALSE(beyond.contains(60000.0));
}

TEST(Interval, FlushedSubnormalsReachZero) {
  const Rounding format = flushing(Rounding::f32());
  const RoundingScope scope(format);
  EXPECT_TRUE((Interval::point(1e-40) * Interval::point(1e10)).contains(0.0));
  EXPECT_TRUE((Interval::point(1) / Interval{1e-40, 1, false}).contains(kInf));
}

TEST(Interval, HullMeetContains) {
  EXPECT_TRUE(same(hull({0, 1, false}, {3, 4, true}), {0, 4, true}));
  EXPECT_TRUE(same(hull(Interval::no_number(), Interval::point(2)), {2, 2, true}));
  EXPECT_TRUE(same(meet({0, 3, true}, {2, 4, false}), {2, 3, false}));
  EXPECT_TRUE(same(meet({0, 1, true}, {2, 4, true}), Interval::no_number()));
  EXPECT_TRUE((Interval{0, 4, true}.contains(Interval{1, 2, true})));
  EXPECT_FALSE((Interval{0, 4, false}.contains(Interval{1, 2, true})));
  EXPECT_TRUE((Interval{0, 4, false}.contains(Bounded{2, 2})));
  EXPECT_FALSE((Interval{0, 4, false}.contains(Bounded{2, 3})));
  EXPECT_FALSE((Interval{-kInf, kInf, false}.contains(Bounded::anything(0))));
  EXPECT_TRUE(Interval::everything().contains(Bounded::anything(0)));
  EXPECT_TRUE(Interval::everything().contains(kNan));
  EXPECT_TRUE(Interval::point(kNan).contains(kNan));
}

// On exact operands one operation gives an interval as wide as the bound, but where the bound's
// symmetry around its value covers more than is possible: a change of sign, the far side of a flush
// to zero, what is anything.
TEST(Interval, HoldsTheBoundOfOneOperation) {
  for (const Format& format : formats()) {
    if (format.rounding.flushes_subnormals) continue;
    const RoundingScope scope(format.rounding);
    for (int i = 0; i < 20000; ++i) {
      const double x = number(format.rounding);
      const double y = number(format.rounding);
      const auto check = [&](const Bounded& b, const Interval& wide) {
        if (b.is_anything()) {
          ASSERT_TRUE(wide.contains(b.value)) << show(b) << show(wide);
          return;
        }
        const double low = b.value >= 0 ? std::fmax(b.low(), 0) : b.low();
        const double high = b.value <= 0 ? std::fmin(b.high(), 0) : b.high();
        const double slack = 1e-14 * (std::fabs(b.value) + b.error) + 0x1p-1070;
        ASSERT_TRUE(wide.low <= low + slack && high - slack <= wide.high)
            << format.name << ' ' << x << ' ' << y << ' ' << show(b) << ' ' << show(wide);
      };
      const Bounded a{x, 0};
      const Bounded b{y, 0};
      check(a + b, Interval::point(x) + Interval::point(y));
      check(a * b, Interval::point(x) * Interval::point(y));
      if (y != 0) check(a / b, Interval::point(x) / Interval::point(y));
    }
  }
}

}  // namespace
}  // namespace assay::testing

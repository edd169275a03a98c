// Bounded numbers: what stays exact, what is anything, and how tight the rest is.
#include "scalar/bounded.h"

#include <gtest/gtest.h>

#include "honest.h"

namespace assay::testing {
namespace {

bool is(const Bounded& x, double value) {
  return x.is_exact() && (x.value == value || (std::isnan(x.value) && std::isnan(value)));
}

TEST(Bounded, WholeNumbersStayExact) {
  const RoundingScope scope(Rounding::f32());
  EXPECT_TRUE(is(Bounded{3, 0} + Bounded{4, 0}, 7));
  EXPECT_TRUE(is(Bounded{3, 0} * Bounded{-4, 0}, -12));
  EXPECT_TRUE(is(Bounded{3, 0} / Bounded{4, 0}, 0.75));
  EXPECT_TRUE(is(Bounded{0x1p24, 0} - Bounded{1, 0}, 0x1p24 - 1));
  EXPECT_FALSE((Bounded{0x1p24, 0} + Bounded{1, 0}).is_exact()) << "f32 does not hold it";
  EXPECT_FALSE((Bounded{1, 0} / Bounded{3, 0}).is_exact());
  EXPECT_TRUE(is(Bounded{5, 0} * Bounded{0, 0}, 0));
  EXPECT_EQ((Bounded{5, 0.5} * Bounded{0, 0}).value, 0);
  EXPECT_LE((Bounded{5, 0.5} * Bounded{0, 0}).error, 0x1p-1074) << "only its sign is open";
}

TEST(Bounded, OneOperationIsAsTightAsItsRounding) {
  for (const Rounding& format : {Rounding::f32(), Rounding::f16(), Rounding::bf16()}) {
    const RoundingScope scope(format);
    for (int i = 0; i < 1000; ++i) {
      const Bounded a{nearest(format, uniform(1, 9)), 0};
      const Bounded b{nearest(format, uniform(1, 9)), 0};
      for (const Bounded& c : {a + b, a * b, a / b}) {
        ASSERT_LE(c.error, 1.02 * (format.unit * std::fabs(c.value) + format.tiny));
      }
    }
  }
}

TEST(Bounded, InfinitiesAndNaNAreExact) {
  const Bounded inf{kInf, 0};
  const Bounded two{2, 0.5};
  EXPECT_TRUE(is(inf + two, kInf));
  EXPECT_TRUE(is(inf - inf, kNan));
  EXPECT_TRUE(is(inf * -two, -kInf));
  EXPECT_TRUE(is(inf * Bounded{0, 0}, kNan));
  EXPECT_TRUE((inf * Bounded{0.1, 0.2}).is_anything());
  EXPECT_TRUE(is(two / inf, 0));
  EXPECT_TRUE(is(inf / inf, kNan));
  EXPECT_TRUE(is(Bounded{kNan, 0} + Bounded::anything(1), kNan));
  EXPECT_TRUE((two + Bounded::anything(1)).is_anything());
}

TEST(Bounded, DivisionByZero) {
  EXPECT_TRUE(is(Bounded{1, 0} / Bounded{0, 0}, kInf));
  EXPECT_TRUE(is(Bounded{1, 0} / Bounded{-0.0, 0}, -kInf));
  EXPECT_TRUE(is(Bounded{0, 0} / Bounded{0, 0}, kNan));
  EXPECT_TRUE((Bounded{1, 0} / Bounded{0.1, 0.2}).is_anything());
  EXPECT_TRUE((Bounded{1, 0} / Bounded{0, 0x1p-1074}).is_anything()) << "a zero of unsure sign";
  EXPECT_TRUE((Bounded{0.1, 0.2} / Bounded{0, 0}).is_anything());
}

TEST(Bounded, WhatTheFormatMayNotHoldIsAnything) {
  const RoundingScope scope(Rounding::f16());
  EXPECT_TRUE((Bounded{60000, 0} + Bounded{60000, 0}).is_anything());
  EXPECT_EQ((Bounded{60000, 0} + Bounded{60000, 0}).value, 120000);
  EXPECT_TRUE((Bounded{300, 0} * Bounded{300, 0}).is_anything());
  EXPECT_TRUE(is(Bounded{65504, 0} + Bounded{0, 0}, 65504));
  EXPECT_TRUE((Bounded{65500, 10} + Bounded{0, 0}).is_anything());
}

TEST(Bounded, FlushedSubnormalsCoverZero) {
  const Rounding format = flushing(Rounding::f32());
  const RoundingScope scope(format);
  const Bounded small{1e-40, 0};
  EXPECT_TRUE((small * Bounded{1e10, 0}).contains(0)) << "the operand may be flushed";
  EXPECT_TRUE((small + small).contains(0));
  EXPECT_TRUE((Bounded{1, 0} / small).is_anything());
  EXPECT_FALSE((Bounded{1e-30, 0} * Bounded{3, 0}).contains(0));
  const RoundingScope plain(Rounding::f32());
  EXPECT_FALSE((small * Bounded{1e10, 0}).contains(0));
}

TEST(Bounded, Hull) {
  const Bounded both = hull(Bounded{1, 0.5}, Bounded{4, 1});
  EXPECT_EQ(both.value, 1);
  EXPECT_TRUE(both.contains(5) && both.contains(0.5));
  EXPECT_NEAR(both.error, 4, 1e-12);
  EXPECT_TRUE(is(hull(Bounded{kInf, 0}, Bounded{kInf, 0}), kInf));
  EXPECT_TRUE(hull(Bounded{kInf, 0}, Bounded{1, 0}).is_anything());
  EXPECT_TRUE(is(hull(Bounded{kNan, 0}, Bounded{kNan, 0}), kNan));
}

TEST(Bounded, Contains) {
  EXPECT_TRUE((Bounded{0, 0}.contains(-0.0)));
  EXPECT_TRUE((Bounded{1, 0.5}.contains(1.5)));
  EXPECT_FALSE((Bounded{1, 0.5}.contains(1.6)));
  EXPECT_FALSE((Bounded{1, 0.5}.contains(kNan)));
  EXPECT_TRUE(Bounded::anything(1).contains(kNan));
  EXPECT_TRUE((Bounded{kNan, 0}.contains(kNan)));
  EXPECT_FALSE((Bounded{kInf, 0}.contains(-kInf)));
}

}  // namespace
}  // namespace assay::testing

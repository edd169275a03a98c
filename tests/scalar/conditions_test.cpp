// Conditions: they say what may be, and select covers what may be taken.
#include "scalar/conditions.h"

#include <gtest/gtest.h>

#include "honest.h"

namespace assay::testing {
namespace {

bool known(Truth t, bool value) { return t.is_known() && t.value == value && t.contains(value); }
bool unknown(Truth t) { return t.may_be_true && t.may_be_false; }

TEST(Conditions, ComparisonsCoverWhatMayBe) {
  const RoundingScope scope(Rounding::f32());
  for (int i = 0; i < 20000; ++i) {
    Bounded a = bounded(rounding());
    Bounded b = chance(0.3) ? a : bounded(rounding());
    if (chance(0.05)) a = {kNan, 0};
    if (chance(0.05)) b = {kInf, 0};
    const Interval wide_a = around(a);
    const Interval wide_b = around(b);
    const double x = inside(a);
    const double y = inside(b);
    ASSERT_TRUE(less(a, b).contains(x < y) && less(wide_a, wide_b).contains(x < y));
    ASSERT_TRUE(less_equal(a, b).contains(x <= y) && less_equal(wide_a, wide_b).contains(x <= y));
    ASSERT_TRUE(greater(a, b).contains(x > y) && greater(wide_a, wide_b).contains(x > y));
    ASSERT_TRUE(greater_equal(a, b).contains(x >= y));
    ASSERT_TRUE(equal(a, b).contains(x == y) && equal(wide_a, wide_b).contains(x == y));
    ASSERT_TRUE(is_nan(a).contains(std::isnan(x)) && is_nan(wide_a).contains(std::isnan(x)));
    ASSERT_TRUE(is_infinite(b).contains(std::isinf(y)) &&
                is_infinite(wide_b).contains(std::isinf(y)));
    ASSERT_TRUE(is_negative(a).contains(x < 0));
    ASSERT_EQ(less(a, b).value, a.value < b.value);
  }
}

TEST(Conditions, AreKnownWhereTheyCanBe) {
  EXPECT_TRUE(known(less(Bounded{1, 0.1}, Bounded{2, 0.1}), true));
  EXPECT_TRUE(known(less(Bounded{2, 0}, Bounded{2, 0}), false));
  EXPECT_TRUE(unknown(less(Bounded{1, 0.6}, Bounded{2, 0.6})));
  EXPECT_TRUE(known(equal(Bounded{2, 0}, Bounded{2, 0}), true));
  EXPECT_TRUE(unknown(equal(Bounded{2, 0.1}, Bounded{2, 0})));
  EXPECT_TRUE(known(equal(Bounded{kNan, 0}, Bounded{kNan, 0}), false));
  EXPECT_TRUE(known(is_nan(Bounded{kNan, 0}), true));
  EXPECT_TRUE(unknown(is_nan(Bounded::anything(1))));
  EXPECT_TRUE(known(is_infinite(Bounded{kInf, 0}, false, true), false));
  EXPECT_TRUE(unknown(less(Interval{0, 1, true}, Interval{2, 3, false}))) << "NaN may be false";
  EXPECT_TRUE(known(is_infinite(Interval{0, 1, false}), false));
  EXPECT_TRUE(unknown(is_infinite(Interval{0, kInf, false})));
}

TEST(Conditions, FlushedOperandsMayCompareAsZero) {
  const Rounding format = flushing(Rounding::f32());
  const RoundingScope scope(format);
  EXPECT_TRUE(unknown(greater(Bounded{1e-40, 0}, Bounded{0, 0})));
  EXPECT_TRUE(unknown(greater(Interval::point(1e-40), Interval::point(0))));
}

TEST(Conditions, Connectives) {
  const Truth yes = Truth::known(true);
  const Truth no = Truth::known(false);
  const Truth maybe = Truth::unknown(true);
  EXPECT_TRUE(known(both(no, maybe), false));
  EXPECT_TRUE(unknown(both(yes, maybe)));
  EXPECT_TRUE(known(either(yes, maybe), true));
  EXPECT_TRUE(unknown(either(no, maybe)));
  EXPECT_TRUE(known(negate(no), true));
  EXPECT_TRUE(known(exclusive(yes, no), true));
  EXPECT_TRUE(unknown(exclusive(yes, maybe)));
  EXPECT_TRUE(known(equal(yes, yes), true));
  EXPECT_TRUE(both(true, true) && !both(true, false) && either(true, false) && !negate(true));
}

TEST(Conditions, Select) {
  EXPECT_EQ(select(true, 1.0, 2.0), 1);
  EXPECT_EQ(select(false, std::int64_t{1}, std::int64_t{2}), 2);
  const Bounded chosen = select(Truth::unknown(false), Bounded{1, 0}, Bounded{2, 0.5});
  EXPECT_EQ(chosen.value, 2);
  EXPECT_TRUE(chosen.contains(1) && chosen.contains(2.5));
  EXPECT_TRUE(select(Truth::known(true), Bounded{1, 0}, Bounded::anything(0)).is_exact());
  EXPECT_TRUE(select(Truth::unknown(true), Bounded{1, 0}, Bounded::anything(0)).is_anything());
  const Interval either = select(Truth::unknown(true), Interval{0, 1, false}, Interval{3, 4, true});
  EXPECT_TRUE(either.contains(Interval{0, 4, true}));
  EXPECT_FALSE(select(Truth::known(true), Interval{0, 1, false}, Interval{3, 4, true}).nan);
}

}  // namespace
}  // namespace assay::testing

// Rounding to the float formats and their bit patterns, every pattern and every tie of the small.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tensor/element_type.h"

namespace assay {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Equal bits, or both NaN.
::testing::AssertionResult same(double a, double b) {
  if (std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (a != a && b != b)) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << a << " is not " << b;
}

// The formats with a sign, up to 16 bits.
const ElementType kNarrow[] = {
    ElementType::f16,        ElementType::bf16,   ElementType::f8e4m3fn,
    ElementType::f8e4m3fnuz, ElementType::f8e5m2, ElementType::f8e5m2fnuz,
    ElementType::f4e2m1,     ElementType::f6e2m3, ElementType::f6e3m2};

// Finite magnitudes in ascending order; their index is their bit pattern.
std::vector<double> magnitudes(ElementType type) {
  std::vector<double> values;
  for (std::uint64_t code = 0; code < std::uint64_t{1} << (bit_width(type) - 1); ++code) {
    const double value = from_bits(type, code);
    if (!std::isfinite(value)) break;
    values.push_back(value);
  }
  return values;
}

TEST(Bits, KnownPatterns) {
  EXPECT_EQ(from_bits(ElementType::f16, 0x3555), 0.333251953125);
  EXPECT_EQ(from_bits(ElementType::f16, 0x0001), 0x1p-24);
  EXPECT_EQ(from_bits(ElementType::f16, 0xFBFF), -65504);
  EXPECT_EQ(from_bits(ElementType::bf16, 0x4049), 3.140625);
  EXPECT_EQ(from_bits(ElementType::f8e4m3fn, 0x7E), 448);
  EXPECT_EQ(from_bits(ElementType::f8e4m3fn, 0x01), 0x1p-9);
  EXPECT_EQ(from_bits(ElementType::f8e4m3fnuz, 0x7F), 240);
  EXPECT_EQ(from_bits(ElementType::f8e4m3fnuz, 0x01), 0x1p-10);
  EXPECT_EQ(from_bits(ElementType::f8e5m2, 0x7B), 57344);
  EXPECT_EQ(from_bits(ElementType::f8e5m2, 0x7C), kInf);
  EXPECT_EQ(from_bits(ElementType::f8e5m2fnuz, 0x7F), 57344);
  EXPECT_EQ(from_bits(ElementType::f8e5m2fnuz, 0x01), 0x1p-17);
  EXPECT_EQ(from_bits(ElementType::f4e2m1, 0x7), 6);
  EXPECT_EQ(from_bits(ElementType::f4e2m1, 0x9), -0.5);
  EXPECT_EQ(from_bits(ElementType::f6e2m3, 0x1F), 7.5);
  EXPECT_EQ(from_bits(ElementType::f6e2m3, 0x01), 0.125);
  EXPECT_EQ(from_bits(ElementType::f6e3m2, 0x1F), 28);
  EXPECT_EQ(from_bits(ElementType::f6e3m2, 0x01), 0.0625);
  EXPECT_EQ(from_bits(ElementType::f8e8m0, 0x00), 0x1p-127);
  EXPECT_EQ(from_bits(ElementType::f8e8m0, 0xFE), 0x1p127);
  EXPECT_TRUE(same(from_bits(ElementType::f8e8m0, 0xFF), kNan));
  EXPECT_TRUE(same(from_bits(ElementType::f8e4m3fnuz, 0x80), kNan));
  EXPECT_TRUE(same(from_bits(ElementType::f8e4m3fn, 0x7F), kNan));
}

TEST(Bits, EveryPatternRoundTripsAndIsItsOwnRounding) {
  std::vector<ElementType> types(std::begin(kNarrow), std::end(kNarrow));
  types.push_back(ElementType::f8e8m0);
  for (const ElementType type : types) {
    for (std::uint64_t code = 0; code < std::uint64_t{1} << bit_width(type); ++code) {
      const double value = from_bits(type, code);
      ASSERT_EQ(to_bits(type, value), code) << short_name(type);
      ASSERT_TRUE(same(round_to(type, value), value)) << short_name(type) << " " << code;
    }
  }
}

TEST(Bits, WideFormatsKeepSignalingNans) {
  EXPECT_EQ(to_bits(ElementType::f32, from_bits(ElementType::f32, 0x7F800001u)), 0x7F800001u);
  EXPECT_EQ(to_bits(ElementType::f32, 0.1), std::bit_cast<std::uint32_t>(0.1f));
  EXPECT_EQ(to_bits(ElementType::f64, -0.0), std::uint64_t{1} << 63);
  // A payload that only a double has room for must not turn into infinity.
  const double deep = std::bit_cast<double>(std::uint64_t{0x7FF0000000000001u});
  EXPECT_EQ(to_bits(ElementType::f32, deep), 0x7FC00000u);
  EXPECT_EQ(to_bits(ElementType::f16, deep), 0x7E00u);
}

TEST(Bits, HighBitsAreIgnored) {
  EXPECT_EQ(from_bits(ElementType::f4e2m1, 0xF7), 6);
  EXPECT_EQ(from_bits(ElementType::f16, 0x13C00), 1);
}

TEST(RoundTo, TiesGoToEvenAndNeighborsOfTiesDoNot) {
  for (const ElementType type : kNarrow) {
    const std::vector<double> values = magnitudes(type);
    for (std::size_t code = 0; code + 1 < values.size(); ++code) {
      const double low = values[code];
      const double high = values[code + 1];
      const double tie = (low + high) / 2;
      ASSERT_EQ(round_to(type, tie), code % 2 == 0 ? low : high) << short_name(type) << " " << tie;
      // One step of a double beside the tie: rounding by way of float would see the tie.
      ASSERT_EQ(round_to(type, std::nextafter(tie, 0)), low) << short_name(type) << " " << tie;
      ASSERT_EQ(round_to(type, std::nextafter(tie, kInf)), high) << short_name(type) << " " << tie;
      ASSERT_EQ(round_to(type, -std::nextafter(tie, kInf)), -high) << short_name(type);
    }
  }
}

TEST(RoundTo, RandomValuesGoToTheNearest) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-30, 18);
  for (const ElementType type : kNarrow) {
    const std::vector<double> values = magnitudes(type);
    for (int i = 0; i < 20000; ++i) {
      const double value = std::exp2(exponent(random));
      if (value > values.back()) continue;
      const auto above = std::lower_bound(values.begin(), values.end(), value);
      const double high = *above;
      const double low = above == values.begin() ? high : *(above - 1);
      const double nearest = value - low < high - value ? low : high;
      ASSERT_EQ(round_to(type, value), nearest) << short_name(type) << " " << value;
      ASSERT_TRUE(same(round_to(type, -value),
                       nearest == 0 && !format_of(type).has_negative_zero ? 0.0 : -nearest));
    }
  }
}

TEST(RoundTo, OverflowStartsHalfAStepBeyondTheLargest) {
  struct Row {
    ElementType type;
    double last_kept;  // rounds to the largest value still
    double first_over;
    double result;
  };
  const Row rows[] = {
      {ElementType::f16, std::nextafter(65520.0, 0), 65520, kInf},
      {ElementType::bf16, std::nextafter(0x1.ffp127, 0), 0x1.ffp127, kInf},
      {ElementType::f8e4m3fn, 464, std::nextafter(464.0, kInf), kNan},
      {ElementType::f8e4m3fnuz, std::nextafter(248.0, 0), 248, kNan},
      {ElementType::f8e5m2, std::nextafter(61440.0, 0), 61440, kInf},
      {ElementType::f8e5m2fnuz, std::nextafter(61440.0, 0), 61440, kNan},
      {ElementType::f32, std::nextafter(0x1.ffffffp127, 0), 0x1.ffffffp127, kInf},
  };
  for (const Row& row : rows) {
    const double largest = format_of(row.type).largest;
    for (const double sign : {1.0, -1.0}) {
      EXPECT_EQ(round_to(row.type, sign * row.last_kept), sign * largest) << short_name(row.type);
      EXPECT_TRUE(same(round_to(row.type, sign * row.first_over), sign * row.result));
      EXPECT_TRUE(same(round_to(row.type, sign * 1e308), sign * row.result));
      EXPECT_TRUE(same(round_to(row.type, sign * kInf), sign * row.result));
      EXPECT_EQ(round_to(row.type, sign * row.first_over, true), sign * largest);
      EXPECT_EQ(round_to(row.type, sign * kInf, true), sign * largest);
    }
    EXPECT_TRUE(same(round_to(row.type, kNan, true), kNan));
  }
  EXPECT_EQ(round_to(ElementType::f64, kInf), kInf);
  EXPECT_EQ(round_to(ElementType::f64, -kInf, true), -std::numeric_limits<double>::max());
}

TEST(RoundTo, FormatsWithoutInfinityAndNanAlwaysSaturate) {
  for (const ElementType type : {ElementType::f4e2m1, ElementType::f6e2m3, ElementType::f6e3m2}) {
    const double largest = format_of(type).largest;
    for (const bool saturate : {false, true}) {
      EXPECT_EQ(round_to(type, kInf, saturate), largest);
      EXPECT_EQ(round_to(type, -1e300, saturate), -largest);
      EXPECT_EQ(round_to(type, largest * 1.4, saturate), largest);
      EXPECT_TRUE(same(round_to(type, kNan, saturate), -0.0));
      EXPECT_TRUE(same(round_to(type, -kNan, saturate), -0.0));
    }
  }
}

TEST(RoundTo, SignOfZero) {
  for (const ElementType type : kNarrow) {
    const double zero = format_of(type).has_negative_zero ? -0.0 : 0.0;
    EXPECT_TRUE(same(round_to(type, -0.0), zero)) << short_name(type);
    EXPECT_TRUE(same(round_to(type, -5e-324), zero)) << short_name(type);
    EXPECT_TRUE(same(round_to(type, 5e-324), 0.0)) << short_name(type);
  }
  EXPECT_TRUE(same(round_to(ElementType::f32, -1e-60), -0.0));
}

TEST(RoundTo, Float32SaturatesOnlyWhenAsked) {
  EXPECT_EQ(round_to(ElementType::f32, 0.1), static_cast<double>(0.1f));
  EXPECT_EQ(round_to(ElementType::f32, 0.1, true), static_cast<double>(0.1f));
  EXPECT_EQ(round_to(ElementType::f32, 0x1.8p-149, true), 0x1p-148);  // tie of subnormals
  EXPECT_EQ(round_to(ElementType::f32, 1e39), kInf);
}

TEST(RoundToE8m0, ModesDifferBetweenPowers) {
  using enum PowerRounding;
  for (const int exponent : {-127, -126, -1, 0, 5, 126}) {
    const double power = std::ldexp(1.0, exponent);
    for (const PowerRounding mode : {up, down, nearest}) {
      EXPECT_EQ(round_to_e8m0(power, mode), power);
    }
    EXPECT_EQ(round_to_e8m0(std::nextafter(power, kInf), up), 2 * power);
    EXPECT_EQ(round_to_e8m0(1.999 * power, down), power);
    EXPECT_EQ(round_to_e8m0(1.5 * power, nearest), 2 * power);
    EXPECT_EQ(round_to_e8m0(std::nextafter(1.5 * power, 0), nearest), power);
  }
}

TEST(RoundToE8m0, SpecialValuesFollowTheCastTable) {
  using enum PowerRounding;
  EXPECT_EQ(round_to_e8m0(0), 0x1p-127);
  EXPECT_EQ(round_to_e8m0(1e-300), 0x1p-127);
  EXPECT_EQ(round_to_e8m0(5e-324), 0x1p-127);
  EXPECT_EQ(round_to_e8m0(kInf), 0x1p127);
  EXPECT_EQ(round_to_e8m0(0x1.8p127), 0x1p127);
  for (const double value : {0.0, 1e-300, 0x1p-128, kInf, 0x1.8p127, 1e300}) {
    EXPECT_TRUE(same(round_to_e8m0(value, nearest, false), kNan)) << value;
    EXPECT_TRUE(same(round_to(ElementType::f8e8m0, value), kNan)) << value;
  }
  EXPECT_EQ(round_to_e8m0(0x1.8p-128, up, false), 0x1p-127);
  EXPECT_EQ(round_to_e8m0(0x1.8p127, down, false), 0x1p127);
  for (const bool saturate : {false, true}) {
    EXPECT_TRUE(same(round_to_e8m0(kNan, up, saturate), kNan));
    EXPECT_TRUE(same(round_to_e8m0(-1, up, saturate), kNan));
  }
  EXPECT_EQ(round_to(ElementType::f8e8m0, 3), 4);
  EXPECT_EQ(round_to(ElementType::f8e8m0, kInf, true), 0x1p127);
}

}  // namespace
}  // namespace assay

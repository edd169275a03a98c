#include "tensor/convert.h"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace assay {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<ElementType> types_where(bool (*condition)(ElementType)) {
  std::vector<ElementType> types;
  for (int i = 1; i < kElementTypeCount; ++i) {
    if (condition(static_cast<ElementType>(i))) types.push_back(static_cast<ElementType>(i));
  }
  return types;
}

// Hostile values among random ones; an odd number, so that loops have a tail.
std::vector<double> mixed_doubles() {
  std::vector<double> values = {0.0, -0.0, kInf, -kInf, kNan, 1e308, 5e-324, 0.5, -0.5, 65520, 464};
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> exponent(-40, 40);
  while (values.size() < 1003) {
    values.push_back((random() % 2 == 0 ? 1 : -1) * std::exp2(exponent(random)));
  }
  return values;
}

TEST(Convert, RealsRoundAsRoundToDoes) {
  const std::vector<double> values = mixed_doubles();
  const auto count = static_cast<std::int64_t>(values.size());
  for (const ElementType type : types_where(is_real)) {
    for (const bool saturate : {false, true}) {
      Tensor tensor = Tensor::uninitialized(type, {count});
      from_doubles(type, values.data(), count, tensor.mutable_raw(), saturate);
      std::vector<double> back(values.size());
      to_doubles(tensor, 0, count, back.data());
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double expected = round_to(type, values[i], saturate);
        ASSERT_TRUE(back[i] == expected || (back[i] != back[i] && expected != expected))
            << short_name(type) << " " << values[i];
        ASSERT_EQ(std::signbit(back[i]), std::signbit(expected)) << short_name(type) << values[i];
      }
    }
  }
}

TEST(Convert, DoublesToIntegersTruncateAndWrap) {
  const auto convert = [](ElementType type, double value) {
    return make_tensor(type, {1}, std::vector<double>{value}).integer(0);
  };
  EXPECT_EQ(convert(ElementType::i32, 2.9), 2);
  EXPECT_EQ(convert(ElementType::i32, -2.9), -2);
  EXPECT_EQ(convert(ElementType::u8, -1), 255);
  EXPECT_EQ(convert(ElementType::u8, 256 + 3.5), 3);
  EXPECT_EQ(convert(ElementType::i8, 128), -128);
  EXPECT_EQ(convert(ElementType::i4, 9), -7);
  EXPECT_EQ(convert(ElementType::u2, 7), 3);
  EXPECT_EQ(convert(ElementType::i64, 0x1p63), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(convert(ElementType::i64, 0x1p63 + 2048),
            std::numeric_limits<std::int64_t>::min() + 2048);
  EXPECT_EQ(convert(ElementType::i64, -0x1p64 - 4096), -4096);
  EXPECT_EQ(convert(ElementType::i64, 0x1p70), 0);
  EXPECT_EQ(convert(ElementType::u32, 0x1p32 + 5), 5);
  for (const ElementType type : types_where(is_integer)) {
    for (const double value : {kNan, kInf, -kInf}) EXPECT_EQ(convert(type, value), 0);
  }
  Tensor wide = Tensor::uninitialized(ElementType::u64, {1});
  const double large = 0x1.fp63;
  from_doubles(ElementType::u64, &large, 1, wide.mutable_raw());
  EXPECT_EQ(wide.data<std::uint64_t>()[0], std::uint64_t{0xF8} << 56);
}

TEST(Convert, BooleanIsFalseForZerosOnly) {
  const Tensor flags =
      make_tensor(ElementType::boolean, {5}, std::vector<double>{0.0, -0.0, 0.1, kNan, -kInf});
  EXPECT_EQ(flags.reals(), (std::vector<double>{0, 0, 1, 1, 1}));
}

TEST(Convert, IntegersRoundOnce) {
  // Half a step of bfloat16 above 2^62, plus one: a double loses the one and sees a tie.
  const std::int64_t beyond = (std::int64_t{1} << 62) + (std::int64_t{1} << 54) + 1;
  const std::vector<std::int64_t> values = {beyond, beyond - 1, -beyond};
  const Tensor tensor = make_integers(ElementType::bf16, {3}, values);
  EXPECT_EQ(tensor.reals(), (std::vector<double>{0x1.02p62, 0x1p62, -0x1.02p62}));
  const std::int64_t single = (std::int64_t{1} << 60) + (std::int64_t{1} << 36) + 1;
  EXPECT_EQ(make_integers(ElementType::f32, {1}, std::span(&single, 1)).real(0), 0x1.000002p60);
  const std::uint64_t top = ~std::uint64_t{0};
  Tensor wide = Tensor::uninitialized(ElementType::f64, {1});
  from_integers(ElementType::f64, &top, 1, wide.mutable_raw());
  EXPECT_EQ(wide.real(0), 0x1p64);
  Tensor small = Tensor::uninitialized(ElementType::f8e4m3fn, {1});
  from_integers(ElementType::f8e4m3fn, &top, 1, small.mutable_raw(), true);
  EXPECT_EQ(small.real(0), 448);
}

TEST(Convert, IntegersWrapBothWays) {
  std::vector<std::int64_t> values;
  for (std::int64_t v = -300; v <= 300; ++v) values.push_back(v * 7919 * 104729);
  const auto count = static_cast<std::int64_t>(values.size());
  for (const ElementType type : types_where(is_integer)) {
    const bool has_sign = domain_of(type) == Domain::signed_integer;
    const Tensor tensor = make_integers(type, {count}, values);
    std::vector<std::uint64_t> raw(values.size());
    to_integers(tensor, 0, count, raw.data());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto bits = static_cast<std::uint64_t>(values[i]);
      const std::int64_t expected = has_sign ? wrap_signed(type, values[i])
                                             : static_cast<std::int64_t>(wrap_unsigned(type, bits));
      ASSERT_EQ(tensor.integer(static_cast<std::int64_t>(i)), expected) << short_name(type);
      ASSERT_EQ(raw[i], static_cast<std::uint64_t>(expected)) << short_name(type);
    }
    Tensor again = Tensor::uninitialized(type, {count});
    from_integers(type, raw.data(), count, again.mutable_raw());
    EXPECT_TRUE(identical(tensor, again));
  }
}

TEST(Convert, ReadsRangesAndChecksThem) {
  std::vector<double> values(40);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  for (const ElementType type : {ElementType::f32, ElementType::f64, ElementType::u8}) {
    const Tensor tensor = make_tensor(type, {40}, values);
    std::vector<double> out(17, -1);
    to_doubles(tensor, 3, 19, out.data());
    EXPECT_EQ(out[0], 3);
    EXPECT_EQ(out[15], 18);
    EXPECT_EQ(out[16], -1);
    to_doubles(tensor, 40, 40, nullptr);
    EXPECT_THROW(to_doubles(tensor, 0, 41, out.data()), Defect);
    EXPECT_THROW(to_doubles(tensor, 5, 4, out.data()), Defect);
    EXPECT_THROW(to_doubles(tensor, -1, 4, out.data()), Defect);
  }
}

TEST(Convert, RefusesTypesWithoutThatReading) {
  const double value = 1;
  char room[64] = {};
  EXPECT_THROW(from_doubles(ElementType::string, &value, 1, room), Defect);
  EXPECT_THROW(from_doubles(ElementType::c64, &value, 1, room), Defect);
  double out = 0;
  EXPECT_THROW(to_doubles(make_strings({1}, {"1"}), 0, 1, &out), Defect);
  std::int64_t integer = 0;
  EXPECT_THROW(to_integers(make_scalar(ElementType::f32, 1), 0, 1, &integer), Defect);
}

}  // namespace
}  // namespace assay

#include "tensor/element_type.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "base/check.h"

namespace assay {
namespace {

TEST(ElementType, NamesRoundTripAndAreNotMixedUp) {
  for (int i = 1; i < kElementTypeCount; ++i) {
    const auto type = static_cast<ElementType>(i);
    EXPECT_EQ(element_type_from_short_name(short_name(type)), type);
    EXPECT_EQ(element_type_from_standard_name(standard_name(type)), type);
  }
  EXPECT_EQ(short_name(ElementType::boolean), "bool");
  EXPECT_EQ(short_name(ElementType::f8e4m3fnuz), "f8e4m3fnuz");
  EXPECT_EQ(standard_name(ElementType::f64), "double");
  EXPECT_EQ(standard_name(ElementType::f6e3m2), "float6e3m2");
  EXPECT_EQ(element_type_from_short_name("float"), std::nullopt);
  EXPECT_EQ(element_type_from_standard_name("f32"), std::nullopt);
  EXPECT_EQ(element_type_from_short_name("undefined"), std::nullopt);
  EXPECT_EQ(element_type_from_short_name(""), std::nullopt);
}

TEST(ElementType, NarrowTypesHaveWideStorage) {
  EXPECT_EQ(storage_of(ElementType::f16), Storage::f32);
  EXPECT_EQ(storage_of(ElementType::f4e2m1), Storage::f32);
  EXPECT_EQ(storage_of(ElementType::i4), Storage::i8);
  EXPECT_EQ(storage_of(ElementType::u2), Storage::u8);
  EXPECT_EQ(storage_size(ElementType::bf16), 4u);
  EXPECT_EQ(storage_size(ElementType::c128), 16u);
  EXPECT_EQ(storage_size(ElementType::string), sizeof(std::string));
  EXPECT_EQ(bit_width(ElementType::bf16), 16);
  EXPECT_EQ(bit_width(ElementType::f6e2m3), 6);
  EXPECT_EQ(bit_width(ElementType::boolean), 8);
  EXPECT_EQ(bit_width(ElementType::string), 0);
  EXPECT_THROW(storage_of(ElementType::undefined), Defect);
}

TEST(ElementType, DomainsFollowTheStandard) {
  EXPECT_TRUE(is_real(ElementType::f8e8m0));
  EXPECT_FALSE(is_real(ElementType::c64));
  EXPECT_TRUE(is_integer(ElementType::u4));
  EXPECT_TRUE(is_integer(ElementType::i2));
  EXPECT_FALSE(is_integer(ElementType::boolean));
  EXPECT_EQ(domain_of(ElementType::string), Domain::text);
  EXPECT_EQ(domain_of(ElementType::undefined), Domain::none);
}

TEST(ElementType, IntegersWrapAsTwosComplement) {
  EXPECT_EQ(wrap_signed(ElementType::i8, 200), -56);  // the standard's own example
  EXPECT_EQ(wrap_signed(ElementType::i4, 8), -8);
  EXPECT_EQ(wrap_signed(ElementType::i4, -9), 7);
  EXPECT_EQ(wrap_signed(ElementType::i2, 2), -2);
  EXPECT_EQ(wrap_signed(ElementType::i32, std::int64_t{1} << 31), -(std::int64_t{1} << 31));
  EXPECT_EQ(wrap_signed(ElementType::i64, -5), -5);
  EXPECT_EQ(wrap_unsigned(ElementType::u8, 256 + 7), 7u);
  EXPECT_EQ(wrap_unsigned(ElementType::u4, static_cast<std::uint64_t>(-1)), 15u);
  EXPECT_EQ(wrap_unsigned(ElementType::u64, static_cast<std::uint64_t>(-1)), ~std::uint64_t{0});
}

TEST(ElementType, IntegerRanges) {
  EXPECT_EQ(smallest_integer(ElementType::i2), -2);
  EXPECT_EQ(largest_integer(ElementType::i2), 1u);
  EXPECT_EQ(smallest_integer(ElementType::i64), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(largest_integer(ElementType::i64),
            static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ(largest_integer(ElementType::u64), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(smallest_integer(ElementType::u16), 0);
  EXPECT_EQ(largest_integer(ElementType::u4), 15u);
  EXPECT_EQ(largest_integer(ElementType::boolean), 1u);
  EXPECT_THROW(largest_integer(ElementType::f32), Defect);
}

}  // namespace
}  // namespace assay

// The wire format itself.
#include "formats/wire.h"

#include <limits>

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Wire, ReadsWhatItWrites) {
  std::string message;
  put_integer(message, 1, -1);
  put_bytes(message, 200, "abc");
  put_integer(message, 536870911, std::numeric_limits<std::int64_t>::max());
  message += std::string("\x1d\1\0\0\x80", 5);          // field 3, four bytes
  message += std::string("\x21\1\0\0\0\0\0\0\x80", 9);  // field 4, eight bytes
  WireReader reader(message);
  auto field = reader.next();
  EXPECT_EQ(field->number, 1U);
  EXPECT_EQ(static_cast<std::int64_t>(field->integer), -1);
  field = reader.next();
  EXPECT_EQ(field->number, 200U);
  EXPECT_EQ(field->bytes, "abc");
  EXPECT_EQ(reader.next()->number, 536870911U);
  EXPECT_EQ(reader.next()->integer, 0x80000001U);
  EXPECT_EQ(reader.next()->integer, 0x8000000000000001U);
  EXPECT_FALSE(reader.next().has_value());
  EXPECT_EQ(reader.failure(), "");
}

std::string failure(const std::string& message) {
  WireReader reader(message);
  while (reader.next()) continue;
  return reader.failure();
}

TEST(Wire, SaysWhyItStops) {
  EXPECT_EQ(failure("\x0a\x05xy"), "field 1 needs 5 bytes, 2 are left");
  EXPECT_EQ(failure("\x08"), "a number does not end");
  EXPECT_EQ(failure("\x08" + std::string(11, '\xff')), "a number does not end");
  EXPECT_EQ(failure(std::string("\x00\x01", 2)), "a field has no valid number");
  EXPECT_EQ(failure("\x0b"), "field 1 has the unknown wire type 3");
  EXPECT_EQ(failure("\x0d\x01"), "it ends inside a number");
  EXPECT_EQ(failure(std::string("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11)),
            "field 1 needs 18446744073709551615 bytes, 0 are left");
}

TEST(Wire, UnpacksNumbersOfOneType) {
  std::vector<std::uint64_t> numbers;
  EXPECT_TRUE(unpack(std::string("\x01\xac\x02\x80\x00", 5), WireType::varint, numbers));
  EXPECT_TRUE(unpack(std::string("\1\0\0\x80\2\0\0\0", 8), WireType::fixed32, numbers));
  EXPECT_TRUE(unpack(std::string("\3\0\0\0\0\0\0\x80", 8), WireType::fixed64, numbers));
  EXPECT_EQ(numbers, (std::vector<std::uint64_t>{1, 300, 0, 0x80000001U, 2, 0x8000000000000003U}));
  EXPECT_FALSE(unpack("\x01\x80", WireType::varint, numbers));
  EXPECT_FALSE(unpack(std::string(11, '\xff'), WireType::varint, numbers));
  EXPECT_FALSE(unpack("abc", WireType::fixed32, numbers));
  EXPECT_FALSE(unpack("abcd", WireType::fixed64, numbers));
}

}  // namespace
}  // namespace assay

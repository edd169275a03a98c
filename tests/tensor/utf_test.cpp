#include "tensor/utf.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Utf, EveryCodePointRoundTripsButSurrogates) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    const std::optional<std::string> encoded = encode_utf8(std::u32string(1, c));
    const bool surrogate = c >= 0xD800 && c <= 0xDFFF;
    ASSERT_EQ(encoded.has_value(), !surrogate) << static_cast<unsigned>(c);
    if (encoded) {
      ASSERT_EQ(decode_utf8(*encoded), std::u32string(1, c)) << static_cast<unsigned>(c);
    }
  }
  EXPECT_EQ(encode_utf8(std::u32string(1, char32_t{0x110000})), std::nullopt);
}

TEST(Utf, KnownForms) {
  EXPECT_EQ(encode_utf8(U"aä€😀"), "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80");
  EXPECT_EQ(decode_utf8("a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"), U"aä€😀");
}

TEST(Utf, RefusesMalformedBytes) {
  for (const char* text : {"\x80", "\xC3", "\xC3(", "\xE2\x82", "\xC0\xAF", "\xE0\x80\xAF",
                           "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80", "\xFF"}) {
    EXPECT_EQ(decode_utf8(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace assay

#include "formats/inflate.h"

#include <libdeflate.h>

#include <gtest/gtest.h>

#include "formats/failure.h"

namespace assay {
namespace {

std::string deflated(const std::string& bytes) {
  libdeflate_compressor* engine = libdeflate_alloc_compressor(6);
  std::string result(libdeflate_gzip_compress_bound(engine, bytes.size()), '\0');
  result.resize(
      libdeflate_gzip_compress(engine, bytes.data(), bytes.size(), result.data(), result.size()));
  libdeflate_free_compressor(engine);
  return result;
}

std::string some_text(std::size_t size) {
  std::string text;
  while (text.size() < size) text += std::to_string(text.size() * 7919) + "\n";
  return text;
}

std::string failure_of(const std::string& compressed, std::size_t most = 1 << 24) {
  try {
    inflate(compressed, most);
  } catch (const FormatError& failure) {
    return failure.kind();
  }
  return "none";
}

TEST(Inflate, GivesBackWhatWasCompressed) {
  for (const std::size_t size : {0, 1, 1000, 100'000, 3'000'000}) {
    const std::string text = size == 0 ? "" : some_text(size);
    EXPECT_EQ(inflate(deflated(text), 1 << 24), text);
  }
}

TEST(Inflate, JoinsTheParts) {
  const std::string first = some_text(200'000), second = some_text(10), third = some_text(90'000);
  EXPECT_EQ(inflate(deflated(first) + deflated(second) + deflated(third), 1 << 24),
            first + second + third);
}

TEST(Inflate, RefusesWhatIsCutOrBroken) {
  const std::string whole = deflated(some_text(50'000));
  EXPECT_EQ(failure_of(""), "unreadable");
  EXPECT_EQ(failure_of("no gzip at all, but long enough"), "unreadable");
  EXPECT_EQ(failure_of(whole.substr(0, whole.size() / 2)), "unreadable");
  EXPECT_EQ(failure_of(whole + "behind"), "unreadable");
  std::string wrong_size = whole;
  wrong_size[wrong_size.size() - 2] ^= 0x40;
  EXPECT_EQ(failure_of(wrong_size), "unreadable");
}

TEST(Inflate, StopsAtTheLimit) {
  const std::string zeros = deflated(std::string(1 << 20, '\0'));
  EXPECT_EQ(failure_of(zeros, 1 << 20), "none");
  EXPECT_EQ(failure_of(zeros, (1 << 20) - 1), "limit");
  EXPECT_EQ(failure_of(zeros + zeros, (1 << 21) - 1), "limit");
}

}  // namespace
}  // namespace assay

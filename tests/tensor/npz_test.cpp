#include <fstream>

#include <gtest/gtest.h>
#include <zip.h>

#include "tensor/npy.h"

namespace assay {
namespace {

std::string temporary(const std::string& name) { return ::testing::TempDir() + "assay_" + name; }

std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void spill(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

std::string npy_bytes(const Tensor& tensor) {
  const std::string path = temporary("entry.npy");
  EXPECT_TRUE(write_npy(path, tensor));
  return slurp(path);
}

// A zip archive of the given files.
std::string make_zip(const std::vector<std::pair<std::string, std::string>>& files,
                     int method = ZIP_CM_DEFLATE) {
  const std::string path = temporary("made.zip");
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  for (const auto& [name, bytes] : files) {
    zip_source_t* source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
    const zip_int64_t index = zip_file_add(archive, name.c_str(), source, 0);
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), method, 9);
  }
  EXPECT_EQ(zip_close(archive), 0);
  return slurp(path);
}

Result<std::vector<NpzEntry>> read_bytes(const std::string& bytes) {
  const std::string path = temporary("read.npz");
  spill(path, bytes);
  return read_npz(path);
}

// The message of the error, which names the file.
std::string problem(const std::string& bytes) {
  const Result<std::vector<NpzEntry>> tensors = read_bytes(bytes);
  if (tensors) return "read";
  EXPECT_NE(tensors.error().message.find("assay_read.npz"), std::string::npos);
  return tensors.error().kind + " " + tensors.error().message;
}

::testing::AssertionResult mentions(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "'" << text << "' does not mention '" << part << "'";
}

// Overwrites the unpacked size in the local header and in the directory.
std::string with_claimed_size(std::string bytes, std::uint32_t size) {
  const std::size_t directory = bytes.find("PK\1\2");
  for (int i = 0; i < 4; ++i) {
    bytes[22 + static_cast<std::size_t>(i)] = static_cast<char>(size >> (8 * i));
    bytes[directory + 24 + static_cast<std::size_t>(i)] = static_cast<char>(size >> (8 * i));
  }
  return bytes;
}

TEST(Npz, RoundTripsInOrderAndReproducibly) {
  const std::vector<NpzEntry> tensors = {
      {"z", make_vector(std::vector<std::int64_t>{1, 2, 3})},
      {"loop/body/x#3", make_scalar(ElementType::f16, 0.5)},
      {"", make_strings({2}, {"a", "\xE2\x82\xAC"})},
      {"empty", Tensor(ElementType::f32, {0, 4})},
  };
  const std::string path = temporary("round.npz");
  ASSERT_TRUE(write_npz(path, tensors));
  const std::string first = slurp(path);
  const Result<std::vector<NpzEntry>> back = read_npz(path);
  ASSERT_TRUE(back.has_value()) << back.error().message;
  ASSERT_EQ(back->size(), tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_EQ((*back)[i].first, tensors[i].first);
    EXPECT_TRUE(identical((*back)[i].second, tensors[i].second)) << tensors[i].first;
  }
  ASSERT_TRUE(write_npz(path, tensors));
  EXPECT_EQ(slurp(path), first);
  // The local header's time and date: the clock has no part in the file.
  EXPECT_EQ(first.substr(10, 4), std::string("\0\0\x21\0", 4));
}

TEST(Npz, EmptyArchives) {
  const std::string path = temporary("empty.npz");
  ASSERT_TRUE(write_npz(path, {}));
  const Result<std::vector<NpzEntry>> back = read_npz(path);
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_TRUE(back->empty());
}

TEST(Npz, ReadsCompressedEntries) {
  const Tensor tensor(ElementType::f64, {300, 1000});  // more than one chunk
  const auto back = read_bytes(make_zip({{"x.npy", npy_bytes(tensor)}}));
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_TRUE(identical(back->front().second, tensor));
}

TEST(Npz, BrokenArchivesAreErrors) {
  const std::string good = npy_bytes(make_scalar(ElementType::f32, 1));
  const std::string archive = make_zip({{"x.npy", good}}, ZIP_CM_STORE);
  ASSERT_TRUE(read_bytes(archive).has_value());
  EXPECT_TRUE(mentions(problem(""), "unreadable"));
  EXPECT_TRUE(mentions(problem("no archive at all"), "unreadable"));
  for (std::size_t length = 1; length < archive.size(); length += 13) {
    EXPECT_TRUE(mentions(problem(archive.substr(0, length)), "unreadable"));
  }
  std::string flipped = archive;
  flipped[flipped.find("NUMPY") + 130] ^= 1;
  EXPECT_TRUE(mentions(problem(flipped), "CRC"));
  EXPECT_TRUE(mentions(problem(make_zip({{"x.npy", "not an array"}})), "x.npy: this is not"));
  EXPECT_TRUE(mentions(problem(make_zip({{"x.txt", good}})), "x.txt"));
  EXPECT_TRUE(mentions(problem(make_zip({{"x.npy", good}}, ZIP_CM_BZIP2)), "neither stored nor"));
  std::string twice = make_zip({{"x.npy", good}, {"y.npy", good}});
  for (std::size_t at = twice.find("y.npy"); at != std::string::npos; at = twice.find("y.npy")) {
    twice[at] = 'x';
  }
  EXPECT_TRUE(mentions(problem(twice), "two entries"));
  const auto absent = read_npz(temporary("absent.npz"));
  ASSERT_FALSE(absent.has_value());
  EXPECT_TRUE(mentions(absent.error().message, "absent.npz"));
}

TEST(Npz, LyingSizesAreErrors) {
  const std::string archive = make_zip({{"x.npy", npy_bytes(make_scalar(ElementType::f32, 1))}});
  EXPECT_TRUE(mentions(problem(with_claimed_size(archive, 0xF0000000u)), "more than it can hold"));
  EXPECT_TRUE(mentions(problem(with_claimed_size(archive, 5000)), "unreadable"));
  EXPECT_TRUE(mentions(problem(with_claimed_size(archive, 100)), "unreadable"));
}

TEST(Npz, BombsAreRefusedBeforeUnpacking) {
  // Two megabytes that deflate could have made of 1.9 GB, as far as the sizes tell.
  std::string noise(2'000'000, '\0');
  std::uint32_t state = 1;
  for (char& c : noise) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  const std::string bomb = with_claimed_size(make_zip({{"x.npy", noise}}), 1'900'000'000);
  EXPECT_TRUE(mentions(problem(bomb), "limit "));
  EXPECT_TRUE(mentions(problem(bomb), "1900000000 bytes"));
}

TEST(Npz, MemoryLimitHoldsForWhatIsPacked) {
  const std::string packed = make_zip({{"x.npy", npy_bytes(Tensor(ElementType::u8, {2'000'000}))}});
  EXPECT_LT(packed.size(), std::size_t{10'000});
  EXPECT_TRUE(read_bytes(packed).has_value());
  const std::size_t limit = memory_limit();
  set_memory_limit(1'000'000);
  EXPECT_TRUE(mentions(problem(packed), "unpacked it takes at least 2000128 bytes"));
  set_memory_limit(limit);
}

TEST(Npz, WritingFailsWithTheName) {
  const std::vector<NpzEntry> tensors = {{"x", make_scalar(ElementType::f32, 1)},
                                         {"x", make_scalar(ElementType::f32, 2)}};
  const Result<void> twice = write_npz(temporary("twice.npz"), tensors);
  ASSERT_FALSE(twice.has_value());
  EXPECT_TRUE(mentions(twice.error().message, "'x'"));
  const std::string nowhere = temporary("no_such_folder/x.npz");
  for (const std::size_t count : {0, 1}) {
    const Result<void> written = write_npz(nowhere, std::span(tensors).first(count));
    ASSERT_FALSE(written.has_value());
    EXPECT_TRUE(mentions(written.error().message, nowhere));
  }
}

}  // namespace
}  // namespace assay

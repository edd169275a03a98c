#include "tensor/npy.h"

#include <fstream>
#include <limits>

#include <gtest/gtest.h>

namespace assay {
namespace {

std::string temporary(const std::string& name) { return ::testing::TempDir() + "assay_" + name; }

std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string npy(const std::string& dictionary, const std::string& data, char version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += version;
  bytes += '\0';
  const std::size_t length = dictionary.size();
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    bytes += static_cast<char>(length >> (8 * i) & 0xFF);
  }
  return bytes + dictionary + data;
}

std::string header(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }\n";
}

Tensor parsed(const std::string& bytes) {
  Result<Tensor> tensor = parse_npy(bytes, "test.npy");
  EXPECT_TRUE(tensor.has_value()) << (tensor ? "" : tensor.error().message);
  return tensor ? *std::move(tensor) : Tensor();
}

std::string problem(const std::string& bytes) {
  const Result<Tensor> tensor = parse_npy(bytes, "bad.npy");
  if (tensor) return "read";
  EXPECT_EQ(tensor.error().where, "bad.npy");
  EXPECT_NE(tensor.error().message.find("bad.npy"), std::string::npos);
  return tensor.error().kind + " " + tensor.error().message;
}

::testing::AssertionResult mentions(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "'" << text << "' does not mention '" << part << "'";
}

TEST(Npy, ReadsVersionsAndSpellings) {
  const std::string data("\x01\x00\xFF\xFF", 4);
  for (const char version : {1, 2, 3}) {
    const Tensor tensor = parsed(npy(header("<i2", "(2,)"), data, version));
    EXPECT_EQ(tensor.type(), ElementType::i16);
    EXPECT_EQ(tensor.integers(), (std::vector<std::int64_t>{1, -1}));
  }
  EXPECT_EQ(
      parsed(npy("{\"shape\":(2L,1),\"descr\":\"=u2\",\"fortran_order\":False}", data)).shape(),
      (Shape{2, 1}));
  EXPECT_EQ(parsed(npy(header("|i1", "()"), "\xFE")).integer(0), -2);
  EXPECT_EQ(parsed(npy(header("<f8", "(0, 3)"), "")).shape(), (Shape{0, 3}));
}

TEST(Npy, ReadsEveryNumber) {
  const std::string zeros(16, '\0');
  const std::pair<const char*, ElementType> rows[] = {
      {"<f2", ElementType::f16},    {"<f4", ElementType::f32}, {"<f8", ElementType::f64},
      {"|i1", ElementType::i8},     {"<i2", ElementType::i16}, {"<i4", ElementType::i32},
      {"<i8", ElementType::i64},    {"|u1", ElementType::u8},  {"<u2", ElementType::u16},
      {"<u4", ElementType::u32},    {"<u8", ElementType::u64}, {"|b1", ElementType::boolean},
      {"|?", ElementType::boolean}, {"<c8", ElementType::c64}, {"<c16", ElementType::c128},
  };
  for (const auto& [descr, type] : rows) {
    const std::size_t size = static_cast<std::size_t>(bit_width(type)) / 8;
    EXPECT_EQ(parsed(npy(header(descr, "(1,)"), zeros.substr(0, size))).type(), type) << descr;
    EXPECT_TRUE(mentions(problem(npy(header(descr, "(1,)"), zeros.substr(0, size - 1))), "bytes"));
  }
}

TEST(Npy, SwapsBigEndian) {
  EXPECT_EQ(
      parsed(npy(header(">i4", "(2,)"), std::string("\0\0\1\2\xFF\xFF\xFF\xFE", 8))).integers(),
      (std::vector<std::int64_t>{258, -2}));
  const Tensor complex = parsed(npy(header(">c8", "()"), std::string("\x3F\x80\0\0\xC0\0\0\0", 8)));
  EXPECT_EQ(complex.data<std::complex<float>>()[0], std::complex<float>(1, -2));
  EXPECT_EQ(
      parsed(npy(header(">U2", "()"), std::string("\0\0\0a\0\0\0b", 8))).data<std::string>()[0],
      "ab");
}

TEST(Npy, TransposesFortranOrder) {
  // a[i,j,k] = 100i + 10j + k, first index fastest.
  std::string data;
  std::vector<std::int64_t> expected;
  for (int k = 0; k < 2; ++k) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 2; ++i) data += {static_cast<char>(100 * i + 10 * j + k), 0};
    }
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 2; ++k) expected.push_back(100 * i + 10 * j + k);
    }
  }
  EXPECT_EQ(parsed(npy(header("<u2", "(2, 3, 2)", true), data)).integers(), expected);
  for (auto& value : expected) value <<= 8;
  EXPECT_EQ(parsed(npy(header(">u2", "(2, 3, 2)", true), data)).integers(), expected);
  EXPECT_EQ(parsed(npy(header("<u2", "(0, 3)", true), "")).size(), 0);
}

TEST(Npy, ReadsTextBytesAndVoid) {
  const std::string euro("\xAC\x20\0\0\0\0\0\0", 8);
  EXPECT_EQ(parsed(npy(header("<U2", "(1,)"), euro)).data<std::string>()[0], "\xE2\x82\xAC");
  const Tensor bytes = parsed(npy(header("|S3", "(2,)"), std::string("a\0\0\0b\xFF", 6)));
  EXPECT_EQ(bytes.data<std::string>()[0], "a");
  EXPECT_EQ(bytes.data<std::string>()[1], std::string("\0b\xFF", 3));
  const Tensor raw = parsed(npy(header("|V2", "(2,)"), std::string("\x80\x3F\0\0", 4)));
  EXPECT_EQ(raw.data<std::string>()[1], std::string("\0\0", 2));
  EXPECT_EQ(from_raw_elements(raw, ElementType::bf16)->reals(), (std::vector<double>{1, 0}));
  EXPECT_EQ(from_raw_elements(raw, ElementType::i4), std::nullopt);
  EXPECT_TRUE(
      mentions(problem(npy(header("<U1", "(1,)"), std::string("\0\xD8\0\0", 4))), "Unicode"));
}

TEST(Npy, HostileHeadersAreErrors) {
  EXPECT_TRUE(mentions(problem(""), "empty"));
  EXPECT_TRUE(mentions(problem("PK\3\4"), "not a .npy"));
  EXPECT_TRUE(mentions(problem("\x93NUMPY"), "cut off"));
  EXPECT_TRUE(mentions(problem(npy(header("<f4", "(1,)"), "abcd").substr(0, 30)), "cut off"));
  EXPECT_TRUE(mentions(problem(npy("{", "", 9)), "version"));
  EXPECT_TRUE(mentions(problem(std::string("\x93NUMPY\2\0\xFF\xFF\xFF\xFF{", 13)), "cut off"));
  EXPECT_TRUE(mentions(problem(npy(header("|O", "(1,)"), "x")), "object arrays"));
  EXPECT_TRUE(mentions(problem(npy("{'descr': [('a', '<f4')], ", "")), "structured"));
  for (const char* descr : {"<f3", "<f16", "<M8[s]", "<", "", "f", "<f4x", "<i-4", "\xFF\xFF"}) {
    EXPECT_TRUE(mentions(problem(npy(header(descr, "(1,)"), "abc")), "not supported")) << descr;
  }
  for (const char* shape : {"(-1,)", "(1", "1", "(1 2)", "(x,)", "(9223372036854775808,)", "[1]"}) {
    EXPECT_TRUE(mentions(problem(npy(header("|u1", shape), "a")), "malformed")) << shape;
  }
  EXPECT_TRUE(mentions(problem(npy(header("|u1", "(1,)") + "x", "")), "malformed"));
  EXPECT_TRUE(mentions(problem(npy("{'descr': '<f4', 'shape': (1,)}", "abcd")), "missing"));
  EXPECT_TRUE(mentions(problem(npy("{'shape': (1,), 'shape': (1,)}", "")), "unexpected"));
  std::string axes;
  for (int i = 0; i < 65; ++i) axes += "1,";
  EXPECT_TRUE(mentions(problem(npy(header("|u1", "(" + axes + ")"), "a")), "too many axes"));
}

TEST(Npy, LengthIsCheckedBeforeMemoryIsAsked) {
  const std::size_t limit = memory_limit();
  set_memory_limit(live_tensor_bytes());  // any allocation would now be an error of kind "limit"
  EXPECT_TRUE(mentions(problem(npy(header("<f4", "(1000000000000,)"), "")), "unreadable"));
  EXPECT_TRUE(mentions(problem(npy(header("<f4", "(4294967296, 4294967296)"), "")), "absurd"));
  EXPECT_TRUE(mentions(problem(npy(header("<f4", "(4611686018427387904,)"), "")), "absurd"));
  EXPECT_TRUE(mentions(problem(npy(header("<U0", "(1000000000000,)"), "")), "no bytes"));
  EXPECT_TRUE(mentions(problem(npy(header("<U4611686018427387904", "(0,)"), "")), "too large"));
  EXPECT_TRUE(mentions(problem(npy(header("<f4", "(2,)"), "1234567")), "7 are there"));
  EXPECT_TRUE(mentions(problem(npy(header("<f4", "(2,)"), "123456789")), "9 are there"));
  EXPECT_TRUE(mentions(problem(npy(header("<f4", "(2,)"), "12345678")), "limit "));
  set_memory_limit(limit);
}

TEST(Npy, MessagesStayPrintable) {
  const std::string message = problem(npy(header("\xFF\x01" + std::string(500, 'q'), "(1,)"), ""));
  for (const char c : message) EXPECT_TRUE(c >= ' ' && c <= '~');
  EXPECT_LT(message.size(), 120u);
}

TEST(Npy, WritesWhatNumpyWrites) {
  const std::string path = temporary("exact.npy");
  ASSERT_TRUE(
      write_npy(path, make_integers(ElementType::i16, {2, 1}, std::vector<std::int64_t>{1, -1})));
  std::string expected = "\x93NUMPY";
  expected += std::string("\1\0\x76\0", 4);
  expected += "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 1), }";
  expected.resize(127, ' ');
  expected += std::string("\n\1\0\xFF\xFF", 5);
  EXPECT_EQ(slurp(path), expected);
  ASSERT_TRUE(write_npy(path, make_vector(std::vector<std::int64_t>{7})));
  EXPECT_TRUE(mentions(slurp(path), "'shape': (1,), }"));
  ASSERT_TRUE(write_npy(path, make_scalar(ElementType::boolean, 1)));
  EXPECT_TRUE(mentions(slurp(path), "'descr': '|b1', 'fortran_order': False, 'shape': (), }"));
}

TEST(Npy, TypesThatNumpyLacksGoAsRawElements) {
  const std::string path = temporary("raw.npy");
  const std::vector<double> values = {1, 2, 4};
  for (int i = 1; i < kElementTypeCount; ++i) {
    const auto type = static_cast<ElementType>(i);
    if (type == ElementType::string || domain_of(type) == Domain::complex) continue;
    const Tensor tensor = make_tensor(type, {3}, values);
    ASSERT_TRUE(write_npy(path, tensor)) << short_name(type);
    Result<Tensor> back = read_npy(path);
    ASSERT_TRUE(back.has_value()) << short_name(type) << back.error().message;
    const bool raw = back->type() == ElementType::string;
    EXPECT_EQ(raw, bit_width(type) < 8 || (is_real(type) && type != ElementType::f16 &&
                                           type != ElementType::f32 && type != ElementType::f64));
    if (raw) {
      EXPECT_TRUE(mentions(slurp(path), type == ElementType::bf16 ? "'|V2'" : "'|V1'"));
      EXPECT_TRUE(identical(from_raw_elements(*back, type).value(), tensor)) << short_name(type);
    } else {
      EXPECT_TRUE(identical(*back, tensor)) << short_name(type);
    }
  }
  ASSERT_TRUE(
      write_npy(path, make_integers(ElementType::i4, {2}, std::vector<std::int64_t>{-1, 7})));
  EXPECT_EQ(slurp(path).substr(128), "\x0F\x07");
  EXPECT_EQ(from_raw_elements(*read_npy(path), ElementType::i4)->integers(),
            (std::vector<std::int64_t>{-1, 7}));
}

TEST(Npy, TextRoundTrips) {
  const std::string path = temporary("text.npy");
  const Tensor text = make_strings(
      {2, 2}, {"", "a\xE2\x82\xAC", "long enough for the heap, surely", "\xF0\x9F\x98\x80"});
  ASSERT_TRUE(write_npy(path, text));
  EXPECT_TRUE(mentions(slurp(path), "'<U32'"));
  EXPECT_TRUE(identical(*read_npy(path), text));
  const Tensor bytes = make_strings({2}, {"\xFF\xFE", "abc"});
  ASSERT_TRUE(write_npy(path, bytes));
  EXPECT_TRUE(mentions(slurp(path), "'|S3'"));
  EXPECT_TRUE(identical(*read_npy(path), bytes));
  const Result<void> lossy = write_npy(path, make_strings({1}, {std::string("a\0", 2)}));
  ASSERT_FALSE(lossy.has_value());
  EXPECT_TRUE(mentions(lossy.error().message, "zero byte"));
  Tensor complex(ElementType::c128, {1});
  complex.mutate<std::complex<double>>()[0] = {1, std::numeric_limits<double>::quiet_NaN()};
  ASSERT_TRUE(write_npy(path, complex));
  EXPECT_TRUE(identical(*read_npy(path), complex));
}

TEST(Npy, FilesThatCannotBeOpenedAreNamed) {
  for (const std::string& path : {temporary("absent.npy"), ::testing::TempDir()}) {
    const Result<Tensor> tensor = read_npy(path);
    ASSERT_FALSE(tensor.has_value());
    EXPECT_EQ(tensor.error().kind, "unreadable");
    EXPECT_TRUE(mentions(tensor.error().message, path));
  }
  const std::string nowhere = temporary("no_such_folder/x.npy");
  const Result<void> written = write_npy(nowhere, make_scalar(ElementType::f32, 1));
  ASSERT_FALSE(written.has_value());
  EXPECT_TRUE(mentions(written.error().message, nowhere));
}

}  // namespace
}  // namespace assay

// Tensors of files: every element type, raw and typed, packed, external, and broken ones.
#include "formats/onnx_tensor.h"

#include <array>
#include <sys/stat.h>

#include "formats/failure.h"
#include "support.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

onnx::TensorProto make_proto(ElementType type, std::initializer_list<std::int64_t> dims) {
  onnx::TensorProto proto;
  proto.set_name("t");
  proto.set_data_type(static_cast<int>(type));
  for (const std::int64_t extent : dims) proto.add_dims(extent);
  return proto;
}

Tensor take(onnx::TensorProto proto, const fs::path& folder = {}) {
  ExternalFiles files(folder);
  return take_tensor(proto, files);
}

// "kind: message" of what reading throws.
std::string failure(const onnx::TensorProto& proto, const fs::path& folder = {}) {
  try {
    take(proto, folder);
    return "accepted";
  } catch (const FormatError& error) {
    return error.kind() + ": " + error.what();
  }
}

class EveryType : public testing::TestWithParam<int> {};

TEST_P(EveryType, SurvivesAFile) {
  const auto type = static_cast<ElementType>(GetParam());
  Tensor tensor;
  if (type == ElementType::string) {
    tensor = make_strings({5}, {"a", "", "b\nc", "\xff", "größe"});
  } else if (domain_of(type) == Domain::complex) {
    tensor = from_file_bytes(type, {2}, std::string(2 * storage_size(type), 'x')).value();
  } else {
    tensor = make_tensor(type, {5}, std::array{0.0, 1.0, 1.0, 0.0, 1.0});
  }
  onnx::TensorProto proto;
  put_tensor(tensor, proto);
  EXPECT_TRUE(identical(take(proto), tensor));
}

INSTANTIATE_TEST_SUITE_P(All, EveryType, testing::Range(1, kElementTypeCount),
                         [](const auto& info) {
                           return std::string(short_name(static_cast<ElementType>(info.param)));
                         });

TEST(TypedFields, HoldEachTypeWhereTheStandardSays) {
  auto floats = make_proto(ElementType::f32, {2});
  floats.add_float_data(1.5F);
  floats.add_float_data(-2);
  EXPECT_EQ(take(floats).reals(), std::vector<double>({1.5, -2}));

  auto halves = make_proto(ElementType::f16, {2});
  halves.add_int32_data(0x3C00);
  halves.add_int32_data(0xC000);
  EXPECT_EQ(take(halves).reals(), std::vector<double>({1, -2}));

  auto sixes = make_proto(ElementType::f6e2m3, {2});
  sixes.add_int32_data(0x08);  // one
  sixes.add_int32_data(0x3F);  // the most negative value
  EXPECT_EQ(take(sixes).reals(), std::vector<double>({1, -7.5}));

  auto bytes = make_proto(ElementType::i8, {2});
  bytes.add_int32_data(-128);
  bytes.add_int32_data(255);  // as its bits
  EXPECT_EQ(take(bytes).integers(), std::vector<std::int64_t>({-128, -1}));

  auto unsigned32 = make_proto(ElementType::u32, {1});
  unsigned32.add_uint64_data(4000000000);
  EXPECT_EQ(take(unsigned32).integers(), std::vector<std::int64_t>({4000000000}));

  auto truths = make_proto(ElementType::boolean, {3});
  for (const int value : {0, 1, 2}) truths.add_int32_data(value);
  EXPECT_EQ(take(truths).integers(), std::vector<std::int64_t>({0, 1, 1}));

  auto complexes = make_proto(ElementType::c128, {1});
  complexes.add_double_data(1);
  complexes.add_double_data(-2);
  EXPECT_EQ(take(complexes).data<std::complex<double>>()[0], std::complex<double>(1, -2));
}

TEST(Packing, IsTheStandards) {
  auto fours = make_proto(ElementType::i4, {3});  // two in a byte, the low half first
  fours.set_raw_data(std::string("\x8f\x07", 2));
  EXPECT_EQ(take(fours).integers(), std::vector<std::int64_t>({-1, -8, 7}));
  auto typed = make_proto(ElementType::u4, {3});  // as many in an int32
  typed.add_int32_data(0x8f);
  typed.add_int32_data(0x07);
  EXPECT_EQ(take(typed).integers(), std::vector<std::int64_t>({15, 8, 7}));
  auto twos = make_proto(ElementType::i2, {5});  // four in a byte
  twos.set_raw_data(std::string("\xe4\x02", 2));
  EXPECT_EQ(take(twos).integers(), std::vector<std::int64_t>({0, 1, -2, -1, -2}));
  auto sixes = make_proto(ElementType::f6e3m2, {4});  // four in three bytes
  // 1 = 0x0c, 2 = 0x10, -1 = 0x2c, 0 = 0x00, from the lowest bit on
  sixes.set_raw_data(std::string("\x0c\xc4\x02", 3));
  EXPECT_EQ(take(sixes).reals(), std::vector<double>({1, 2, -1, 0}));
  auto float4 = make_proto(ElementType::f4e2m1, {3});
  float4.set_raw_data(std::string("\x72\x09", 2));
  EXPECT_EQ(take(float4).reals(), std::vector<double>({1, 6, -0.5}));
}

TEST(Sharing, KeepsTheParsedBytes) {
  auto raw = make_proto(ElementType::f32, {8});
  raw.set_raw_data(std::string(32, '\1'));
  const void* raw_bytes = raw.raw_data().data();
  auto typed = make_proto(ElementType::i64, {4});
  for (int i = 0; i < 4; ++i) typed.add_int64_data(i);
  const void* typed_bytes = typed.int64_data().data();
  ExternalFiles none{{}};
  EXPECT_EQ(take_tensor(raw, none).raw(), raw_bytes);
  const Tensor tensor = take_tensor(typed, none);
  EXPECT_EQ(tensor.raw(), typed_bytes);
  typed.Clear();
  EXPECT_EQ(tensor.integers(), std::vector<std::int64_t>({0, 1, 2, 3}));
}

TEST(Sharing, NeverTrustsABool) {
  auto truths = make_proto(ElementType::boolean, {3});
  truths.set_raw_data(std::string("\0\1\x7f", 3));
  const Tensor tensor = take(truths);
  EXPECT_EQ(tensor.integers(), std::vector<std::int64_t>({0, 1, 1}));
}

TEST(BrokenTensors, AreRefusedBeforeAnythingIsAllocated) {
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_TRUE(has(failure(make_proto(ElementType::f32, {huge, huge})), "too large"));
  EXPECT_TRUE(has(failure(make_proto(ElementType::f32, {huge})), "needs 1099511627776 numbers"));
  EXPECT_TRUE(has(failure(make_proto(ElementType::u4, {huge})), "packed numbers, there are 0"));
  EXPECT_TRUE(has(failure(make_proto(ElementType::string, {huge})), "strings, there are 0"));
  EXPECT_TRUE(has(failure(make_proto(ElementType::f32, {-1})), "negative"));
  auto raw = make_proto(ElementType::f16, {huge});
  raw.set_raw_data("ab");
  EXPECT_TRUE(has(failure(raw), "invalid: tensor 't' f16[1099511627776]: the shape needs"));
  raw = make_proto(ElementType::f16, {2});
  raw.set_raw_data("abcdef");
  EXPECT_TRUE(has(failure(raw), "needs 4 bytes, there are 6"));
}

TEST(BrokenTensors, AreRefusedForContradictions) {
  auto both = make_proto(ElementType::f32, {1});
  both.add_float_data(1);
  both.set_raw_data("abcd");
  EXPECT_TRUE(has(failure(both), "more than one field"));
  auto text = make_proto(ElementType::string, {1});
  text.set_raw_data("abcd");
  EXPECT_TRUE(has(failure(text), "text cannot be in raw_data"));
  auto elsewhere = make_proto(ElementType::f32, {1});
  elsewhere.add_int32_data(1);
  EXPECT_TRUE(has(failure(elsewhere), "needs 1 numbers, there are 0"));
  auto segmented = make_proto(ElementType::f32, {1});
  segmented.mutable_segment()->set_begin(0);
  EXPECT_TRUE(has(failure(segmented), "segments"));
  onnx::TensorProto unknown;
  EXPECT_TRUE(has(failure(unknown), "no element type 0"));
  unknown.set_data_type(29);
  EXPECT_TRUE(has(failure(unknown), "no element type 29"));
}

TEST(SparseTensors, MustFitTogether) {
  onnx::SparseTensorProto proto;
  proto.add_dims(2);
  proto.add_dims(3);
  auto& values = *proto.mutable_values();
  values = make_proto(ElementType::f32, {2});
  values.add_float_data(5);
  values.add_float_data(6);
  auto& indices = *proto.mutable_indices();
  indices = make_proto(ElementType::i64, {2});
  indices.add_int64_data(1);
  indices.add_int64_data(4);
  ExternalFiles none{{}};
  auto copy = proto;
  const SparseTensor sparse = take_sparse_tensor(copy, none);
  EXPECT_EQ(sparse.shape, Shape({2, 3}));
  EXPECT_EQ(sparse.indices.integers(), std::vector<std::int64_t>({1, 4}));
  onnx::SparseTensorProto written;
  put_sparse_tensor(sparse, written);
  EXPECT_EQ(written.dims_size(), 2);

  proto.mutable_indices()->add_int64_data(5);
  proto.mutable_indices()->set_dims(0, 3);
  EXPECT_THROW(take_sparse_tensor(proto, none), FormatError);
}

onnx::TensorProto external(const std::string& location, const std::string& offset = "",
                           const std::string& length = "") {
  auto proto = make_proto(ElementType::f32, {2});
  proto.set_data_location(onnx::TensorProto::EXTERNAL);
  for (const auto& [key, value] : std::map<std::string, std::string>{
           {"location", location}, {"offset", offset}, {"length", length}}) {
    if (value.empty()) continue;
    auto& entry = *proto.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  }
  return proto;
}

const std::string kData("\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40", 12);  // 1, 2, 3

TEST(ExternalData, IsReadAtItsPlaceAndShared) {
  const TemporaryFolder folder;
  folder.write("weights.bin", kData);
  EXPECT_EQ(take(external("weights.bin"), folder.path()).reals(), std::vector<double>({1, 2}));
  EXPECT_EQ(take(external("weights.bin", "4", "8"), folder.path()).reals(),
            std::vector<double>({2, 3}));
  ExternalFiles files(folder.path());
  auto first = external("weights.bin");
  auto second = external("weights.bin", "4");
  const Tensor a = take_tensor(first, files);
  const Tensor b = take_tensor(second, files);
  EXPECT_EQ(static_cast<const char*>(b.raw()) - static_cast<const char*>(a.raw()), 4);
}

TEST(ExternalData, ThatIsNotAlignedIsCopied) {
  const TemporaryFolder folder;
  folder.write("weights.bin", "!" + kData);
  EXPECT_EQ(take(external("weights.bin", "1"), folder.path()).reals(), std::vector<double>({1, 2}));
}

TEST(ExternalData, StaysInsideTheFolder) {
  const TemporaryFolder outside, folder;
  const fs::path secret = outside.write("secret.bin", kData);
  fs::create_symlink(secret, folder / "link.bin");
  fs::create_directory_symlink(outside.path(), folder / "sub");
  const std::string refused = "unreadable: tensor 't': external data outside the model's folder";
  for (const std::string& location :
       {secret.string(), "../" + outside.path().filename().string() + "/secret.bin",
        std::string("link.bin"), std::string("sub/secret.bin"), std::string("."), std::string()}) {
    EXPECT_TRUE(has(failure(external(location), folder.path()), refused)) << location;
  }
  folder.write("weights.bin", kData);
  fs::create_symlink("weights.bin", folder / "inner.bin");
  EXPECT_EQ(failure(external("inner.bin"), folder.path()), "accepted");
  EXPECT_TRUE(has(failure(external("weights.bin")), "without a folder"));
}

TEST(ExternalData, NamesTensorAndFileWhenItIsMissingOrShort) {
  const TemporaryFolder folder;
  folder.write("weights.bin", kData);
  EXPECT_TRUE(has(failure(external("absent.bin"), folder.path()),
                  "missing: tensor 't': external data 'absent.bin'"));
  EXPECT_TRUE(has(failure(external("weights.bin", "8"), folder.path()),
                  "unreadable: tensor 't': external data 'weights.bin': 8 bytes are needed at 8, "
                  "the file has 12"));
  EXPECT_TRUE(has(failure(external("weights.bin", "18446744073709551615"), folder.path()),
                  "the file has 12"));
  EXPECT_TRUE(
      has(failure(external("weights.bin", "0", "12"), folder.path()), "length is given as"));
  EXPECT_TRUE(has(failure(external("weights.bin", "-1"), folder.path()), "is no number"));
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_TRUE(has(failure(external("pipe"), folder.path()), "not a regular file"));
}

}  // namespace
}  // namespace assay

#include "tensor/tensor.h"

#include <limits>

#include <gtest/gtest.h>

namespace assay {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Tensor, DefaultIsNoTensor) {
  const Tensor none;
  EXPECT_FALSE(none.defined());
  EXPECT_EQ(none.byte_size(), 0u);
  EXPECT_FALSE(none.unique());
}

TEST(Tensor, StartsAsZeros) {
  for (int i = 1; i < kElementTypeCount; ++i) {
    const auto type = static_cast<ElementType>(i);
    const Tensor tensor(type, {3, 5});
    EXPECT_EQ(tensor.size(), 15);
    EXPECT_EQ(tensor.byte_size(), 15 * storage_size(type));
    if (type == ElementType::string) {
      for (const std::string& text : tensor.data<std::string>()) EXPECT_EQ(text, "");
    } else if (type == ElementType::f8e8m0) {
      EXPECT_EQ(tensor.real(14), 0x1p-127);
      EXPECT_EQ(to_file_bytes(tensor), std::string(15, '\0'));
    } else {
      const std::string zeros((15 * static_cast<std::size_t>(bit_width(type)) + 7) / 8, '\0');
      EXPECT_EQ(to_file_bytes(tensor), zeros) << short_name(type);
    }
  }
}

TEST(Tensor, DataIsAligned) {
  for (const std::int64_t size : {0, 1, 7, 1000, 1 << 20}) {
    const Tensor tensor = Tensor::uninitialized(ElementType::f32, {size});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.raw()) % 64, 0u);
    const Tensor texts(ElementType::string, {size / 100});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(texts.raw()) % 64, 0u);
  }
}

TEST(Tensor, CopiesShareAndSharedDataIsNotWritable) {
  Tensor a = make_scalar(ElementType::f64, 1);
  EXPECT_TRUE(a.unique());
  {
    Tensor b = a;
    EXPECT_EQ(a.raw(), b.raw());
    EXPECT_THROW(a.mutate<double>(), Defect);
    EXPECT_THROW(b.mutable_raw(), Defect);
  }
  a.mutate<double>()[0] = 2;
  EXPECT_EQ(a.real(0), 2);
  EXPECT_TRUE(Tensor(ElementType::f32, {0}).unique());
}

TEST(Tensor, AccessChecksTheStorageType) {
  const Tensor tensor = make_scalar(ElementType::bf16, 1);
  EXPECT_EQ(tensor.data<float>()[0], 1.0f);
  EXPECT_THROW(tensor.data<double>(), Defect);
  EXPECT_THROW(tensor.real(1), Defect);
  EXPECT_THROW(tensor.integer(0), Defect);
  EXPECT_THROW(make_strings({1}, {"x"}).real(0), Defect);
}

TEST(Tensor, BorrowedMemoryStaysAliveAndReadOnly) {
  auto values = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3});
  const std::weak_ptr<std::vector<float>> watch = values;
  const float* data = values->data();
  {
    Tensor tensor(ElementType::f32, {3}, std::move(values), data);
    EXPECT_FALSE(watch.expired());
    EXPECT_EQ(tensor.raw(), data);
    EXPECT_FALSE(tensor.unique());
    EXPECT_THROW(tensor.mutate<float>(), Defect);
    EXPECT_EQ(tensor.reals(), (std::vector<double>{1, 2, 3}));
  }
  EXPECT_TRUE(watch.expired());
  EXPECT_THROW(Tensor(ElementType::f32, {1}, nullptr, reinterpret_cast<const char*>(data) + 1),
               Defect);
}

TEST(Tensor, ReshapedAndRetypedShare) {
  const Tensor tensor =
      make_tensor(ElementType::f16, {2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6});
  const Tensor reshaped = tensor.reshaped({3, 2});
  EXPECT_EQ(reshaped.shape(), (Shape{3, 2}));
  EXPECT_EQ(reshaped.raw(), tensor.raw());
  EXPECT_THROW(tensor.reshaped({7}), Defect);
  EXPECT_EQ(tensor.retyped(ElementType::f32).real(5), 6);
  EXPECT_THROW(tensor.retyped(ElementType::f64), Defect);
}

TEST(Tensor, MakersRoundAndWrap) {
  EXPECT_EQ(make_scalar(ElementType::f16, 1e5).real(0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(make_scalar(ElementType::u4, 17).integer(0), 1);
  EXPECT_EQ(make_integers(ElementType::i8, {2}, std::vector<std::int64_t>{200, -1}).integers(),
            (std::vector<std::int64_t>{-56, -1}));
  EXPECT_EQ(make_vector(std::vector<std::int64_t>{4, 5}).shape(), Shape{2});
  EXPECT_EQ(make_strings({2}, {"a", "b"}).data<std::string>()[1], "b");
  EXPECT_THROW(make_tensor(ElementType::f32, {3}, std::vector<double>{1}), Defect);
  EXPECT_THROW(make_strings({3}, {"a"}), Defect);
  EXPECT_THROW(Tensor(ElementType::f32, {-1}), Defect);
}

TEST(Tensor, IdenticalComparesBits) {
  const auto scalar = [](double value) { return make_scalar(ElementType::f32, value); };
  EXPECT_TRUE(identical(scalar(1), scalar(1)));
  EXPECT_FALSE(identical(scalar(1), scalar(2)));
  EXPECT_FALSE(identical(scalar(0), scalar(-0.0)));
  EXPECT_TRUE(identical(scalar(kNan), scalar(-kNan)));
  EXPECT_FALSE(identical(scalar(kNan), scalar(1)));
  EXPECT_FALSE(identical(scalar(1), scalar(1).reshaped({1})));
  EXPECT_FALSE(identical(scalar(1), scalar(1).retyped(ElementType::f16)));
  EXPECT_TRUE(identical(make_strings({1}, {"x"}), make_strings({1}, {"x"})));
  EXPECT_FALSE(identical(make_strings({1}, {"x"}), make_strings({1}, {"y"})));
  EXPECT_TRUE(identical(Tensor(), Tensor()));
  Tensor a(ElementType::c64, {});
  Tensor b(ElementType::c64, {});
  EXPECT_TRUE(identical(a, b));
  b.mutate<std::complex<float>>()[0] = {0, -0.0f};
  EXPECT_FALSE(identical(a, b));
}

TEST(FileBytes, PacksLowBitsFirst) {
  const auto bytes = [](ElementType type, std::vector<double> values) {
    return to_file_bytes(make_tensor(type, {static_cast<std::int64_t>(values.size())}, values));
  };
  EXPECT_EQ(bytes(ElementType::u4, {1, 2, 3}), "\x21\x03");
  EXPECT_EQ(bytes(ElementType::i4, {-1, 7}), "\x7F");
  EXPECT_EQ(bytes(ElementType::i2, {-1, 1, -2, 0, 1}), "\x27\x01");
  EXPECT_EQ(bytes(ElementType::f4e2m1, {6, -0.5}), "\x97");
  // 011111 100001 000001 000001, the first in the lowest bits.
  EXPECT_EQ(bytes(ElementType::f6e2m3, {7.5, -0.125, 0.125, 0.125}), "\x5F\x18\x04");
  EXPECT_EQ(bytes(ElementType::bf16, {1}), std::string("\x80\x3F", 2));
  EXPECT_EQ(bytes(ElementType::i16, {-2}), "\xFE\xFF");
  EXPECT_EQ(bytes(ElementType::boolean, {1, 0}), std::string("\x01\x00", 2));
}

TEST(FileBytes, EveryTypeRoundTrips) {
  for (int i = 1; i < kElementTypeCount; ++i) {
    const auto type = static_cast<ElementType>(i);
    if (type == ElementType::string) continue;
    for (const std::int64_t count : {0, 1, 2, 3, 4, 5, 257}) {
      const std::size_t bits = static_cast<std::size_t>(count * bit_width(type));
      std::string bytes((bits + 7) / 8, '\0');
      for (std::size_t k = 0; k < bytes.size(); ++k) bytes[k] = static_cast<char>(k * 37 + 11);
      if (type == ElementType::boolean) bytes.assign(bytes.size(), '\1');
      if (bits % 8 != 0) bytes.back() = static_cast<char>(bytes.back() & ((1 << bits % 8) - 1));
      const std::optional<Tensor> tensor = from_file_bytes(type, {count}, bytes);
      ASSERT_TRUE(tensor.has_value()) << short_name(type) << " " << count;
      EXPECT_EQ(to_file_bytes(*tensor), bytes) << short_name(type) << " " << count;
      EXPECT_FALSE(from_file_bytes(type, {count}, bytes + "x").has_value());
      EXPECT_FALSE(from_file_bytes(type, {count + 8}, bytes).has_value());
    }
  }
}

TEST(FileBytes, EveryHalfKeepsItsBits) {
  std::string bytes;
  for (int code = 0; code < 65536; ++code) {
    bytes.push_back(static_cast<char>(code & 0xFF));
    bytes.push_back(static_cast<char>(code >> 8));
  }
  for (const ElementType type : {ElementType::f16, ElementType::bf16}) {
    const Tensor tensor = from_file_bytes(type, {65536}, bytes).value();
    for (std::int64_t code = 0; code < 65536; ++code) {
      const double expected = from_bits(type, static_cast<std::uint64_t>(code));
      const double value = tensor.real(code);
      ASSERT_TRUE(value == expected || (value != value && expected != expected)) << code;
    }
    EXPECT_EQ(to_file_bytes(tensor), bytes);
  }
}

TEST(FileBytes, RefusesWhatDoesNotFit) {
  EXPECT_FALSE(from_file_bytes(ElementType::string, {0}, "").has_value());
  EXPECT_FALSE(from_file_bytes(ElementType::undefined, {0}, "").has_value());
  EXPECT_FALSE(from_file_bytes(ElementType::f32, {-1}, "").has_value());
  EXPECT_FALSE(from_file_bytes(ElementType::f32, {std::int64_t{1} << 62, 4}, "").has_value());
  // 2^62 * 32 bits is 0 modulo 2^64.
  EXPECT_FALSE(from_file_bytes(ElementType::f32, {std::int64_t{1} << 62}, "").has_value());
  EXPECT_THROW(to_file_bytes(make_strings({1}, {"x"})), Defect);
  const Tensor flags =
      from_file_bytes(ElementType::boolean, {2}, std::string("\x02\x00", 2)).value();
  EXPECT_EQ(flags.integers(), (std::vector<std::int64_t>{1, 0}));
}

}  // namespace
}  // namespace assay

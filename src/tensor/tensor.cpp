#include "tensor/tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "tensor/convert.h"
#include "tensor/memory.h"

namespace assay {
namespace {

std::int64_t count_or_throw(const Shape& shape) {
  const std::optional<std::int64_t> count = checked_element_count(shape);
  if (!count) {
    ASSAY_CHECK(std::ranges::none_of(shape, [](std::int64_t extent) { return extent < 0; }));
    throw MemoryLimitError(
        fmt::format("a tensor of shape {} has too many elements for any memory", to_text(shape)));
  }
  return *count;
}

std::size_t bytes_or_throw(ElementType type, const Shape& shape, std::int64_t count) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::size_t>(count), storage_size(type), &bytes)) {
    throw MemoryLimitError(
        fmt::format("a tensor of shape {} has too many bytes for any memory", to_text(shape)));
  }
  return bytes;
}

Block allocate(ElementType type, const Shape& shape, std::int64_t count, Fill fill) {
  if (type == ElementType::string) return allocate_strings(static_cast<std::size_t>(count));
  return allocate_block(bytes_or_throw(type, shape, count), fill);
}

// Equal bits, or both NaN.
template <class T>
bool same_element(const T& a, const T& b) {
  if constexpr (std::is_floating_point_v<T>) {
    return (a == b && std::signbit(a) == std::signbit(b)) || (std::isnan(a) && std::isnan(b));
  } else {
    return a == b;
  }
}
template <class T>
bool same_element(const std::complex<T>& a, const std::complex<T>& b) {
  return same_element(a.real(), b.real()) && same_element(a.imag(), b.imag());
}

}  // namespace

Tensor::Tensor(ElementType type, Shape shape)
    : type_(type), owned_(true), shape_(std::move(shape)), size_(count_or_throw(shape_)) {
  Block block = allocate(type_, shape_, size_, Fill::zeros);
  owner_ = std::move(block.owner);
  data_ = block.data;
  if (type_ == ElementType::f8e8m0) {
    // It has no zero; its bits of zero are its smallest value.
    const auto values = mutate<float>();
    std::fill(values.begin(), values.end(), static_cast<float>(from_bits(type_, 0)));
  }
}

Tensor Tensor::uninitialized(ElementType type, Shape shape) {
  Tensor tensor;
  tensor.size_ = count_or_throw(shape);
  Block block = allocate(type, shape, tensor.size_, Fill::none);
  tensor.type_ = type;
  tensor.owned_ = true;
  tensor.shape_ = std::move(shape);
  tensor.owner_ = std::move(block.owner);
  tensor.data_ = block.data;
  return tensor;
}

void Tensor::require_room(ElementType type, const Shape& shape) {
  require_memory(bytes_or_throw(type, shape, count_or_throw(shape)));
}

Tensor::Tensor(ElementType type, Shape shape, std::shared_ptr<const void> owner, const void* data)
    : type_(type),
      shape_(std::move(shape)),
      size_(element_count(shape_)),
      owner_(std::move(owner)),
      data_(data) {
  const std::size_t alignment = visit_storage(type, []<class T>(T*) { return alignof(T); });
  ASSAY_CHECK(size_ == 0 || data_ != nullptr);
  ASSAY_CHECK(reinterpret_cast<std::uintptr_t>(data_) % alignment == 0);
}

std::size_t Tensor::byte_size() const {
  return defined() ? static_cast<std::size_t>(size_) * storage_size(type_) : 0;
}

Tensor Tensor::reshaped(Shape shape) const {
  ASSAY_CHECK(defined() && element_count(shape) == size_);
  Tensor result = *this;
  result.shape_ = std::move(shape);
  return result;
}

Tensor Tensor::retyped(ElementType type) const {
  ASSAY_CHECK(defined() && storage_of(type) == storage_of(type_));
  Tensor result = *this;
  result.type_ = type;
  return result;
}

double Tensor::real(std::int64_t i) const {
  ASSAY_CHECK(i >= 0 && i < size_);
  double value = 0;
  to_doubles(*this, i, i + 1, &value);
  return value;
}

std::int64_t Tensor::integer(std::int64_t i) const {
  ASSAY_CHECK(i >= 0 && i < size_);
  std::int64_t value = 0;
  to_integers(*this, i, i + 1, &value);
  return value;
}

std::vector<std::int64_t> Tensor::integers() const {
  std::vector<std::int64_t> values(static_cast<std::size_t>(size_));
  to_integers(*this, 0, size_, values.data());
  return values;
}

std::vector<double> Tensor::reals() const {
  std::vector<double> values(static_cast<std::size_t>(size_));
  to_doubles(*this, 0, size_, values.data());
  return values;
}

Tensor make_tensor(ElementType type, Shape shape, std::span<const double> values) {
  Tensor tensor = Tensor::uninitialized(type, std::move(shape));
  ASSAY_CHECK(static_cast<std::size_t>(tensor.size()) == values.size());
  from_doubles(type, values.data(), tensor.size(), tensor.mutable_raw());
  return tensor;
}

Tensor make_integers(ElementType type, Shape shape, std::span<const std::int64_t> values) {
  Tensor tensor = Tensor::uninitialized(type, std::move(shape));
  ASSAY_CHECK(static_cast<std::size_t>(tensor.size()) == values.size());
  from_integers(type, values.data(), tensor.size(), tensor.mutable_raw());
  return tensor;
}

Tensor make_vector(std::span<const std::int64_t> values) {
  return make_integers(ElementType::i64, {static_cast<std::int64_t>(values.size())}, values);
}

Tensor make_scalar(ElementType type, double value) { return make_tensor(type, {}, {&value, 1}); }

Tensor make_strings(Shape shape, std::vector<std::string> values) {
  Tensor tensor(ElementType::string, std::move(shape));
  ASSAY_CHECK(static_cast<std::size_t>(tensor.size()) == values.size());
  std::ranges::move(values, tensor.mutate<std::string>().begin());
  return tensor;
}

bool identical(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type() || a.shape() != b.shape()) return false;
  if (!a.defined()) return true;
  return visit_storage(a.type(), [&]<class T>(T*) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      const std::size_t bytes = a.data<T>().size_bytes();
      if (bytes == 0 || std::memcmp(a.raw(), b.raw(), bytes) == 0) return true;
    }
    return std::ranges::equal(a.data<T>(), b.data<T>(),
                              [](const T& x, const T& y) { return same_element(x, y); });
  });
}

}  // namespace assay

// Tensor: an immutable-by-sharing block of elements with a type and a shape.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/check.h"
#include "tensor/element_type.h"
#include "tensor/shape.h"

namespace assay {

template <class T>
struct StorageOf;  // StorageOf<float>::value == Storage::f32, …

// Copies share the data. `mutate<T>()` may be called only on a tensor that owns its data alone
// (fresh from a constructor), which it checks.
class Tensor {
 public:
  Tensor() = default;                     // no tensor: type undefined
  Tensor(ElementType type, Shape shape);  // zeros (f8e8m0: its smallest value), empty strings
  static Tensor uninitialized(ElementType type, Shape shape);  // for a kernel that writes it all
  // Throws MemoryLimitError where a tensor of this shape would.
  static void require_room(ElementType type, const Shape& shape);
  // Memory kept alive by `owner` (a parsed file), in this tensor's own storage layout and aligned
  // for it; bytes of a boolean must be 0 or 1. Such memory is not counted.
  Tensor(ElementType type, Shape shape, std::shared_ptr<const void> owner, const void* data);

  bool defined() const { return type_ != ElementType::undefined; }
  ElementType type() const { return type_; }
  const Shape& shape() const { return shape_; }
  std::int64_t rank() const { return static_cast<std::int64_t>(shape_.size()); }
  std::int64_t size() const { return size_; }
  std::size_t byte_size() const;

  // T is the storage type: float, double, std::complex<…>, [u]int{8,16,32,64}_t, bool, std::string.
  template <class T>
  std::span<const T> data() const {
    ASSAY_CHECK(storage_of(type_) == StorageOf<T>::value);
    return {static_cast<const T*>(data_), static_cast<std::size_t>(size_)};
  }
  template <class T>
  std::span<T> mutate() {
    ASSAY_CHECK(storage_of(type_) == StorageOf<T>::value && unique());
    return {static_cast<T*>(const_cast<void*>(data_)), static_cast<std::size_t>(size_)};
  }
  const void* raw() const { return data_; }
  // For the bulk conversions of convert.h; the same condition as mutate.
  void* mutable_raw() {
    ASSAY_CHECK(unique());
    return const_cast<void*>(data_);
  }
  bool unique() const { return owned_ && owner_.use_count() == 1; }

  Tensor reshaped(Shape shape) const;  // same elements, other shape; shares data
  // Same storage layout, another type (f16 values as f32 …); shares data.
  Tensor retyped(ElementType type) const;

  // Element access with conversion; slow, for small tensors and tests.
  double real(std::int64_t i) const;           // real, integer and boolean types
  std::int64_t integer(std::int64_t i) const;  // integer and boolean types (u64 wraps)
  std::vector<std::int64_t> integers() const;
  std::vector<double> reals() const;

 private:
  ElementType type_ = ElementType::undefined;
  bool owned_ = false;
  Shape shape_;
  std::int64_t size_ = 0;
  std::shared_ptr<const void> owner_;
  const void* data_ = nullptr;
};

// A limit on the bytes of all live tensors together, --memory-limit; beyond it a constructor throws
// MemoryLimitError, which the evaluator turns into an Error of kind "limit". There is no limit
// until one is set. What strings hold outside their own object is not counted.
class MemoryLimitError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};
void set_memory_limit(std::size_t bytes);
std::size_t memory_limit();
std::size_t live_tensor_bytes();

// Makers; values are rounded or wrapped to the type (convert.h says how). As many values as the
// shape has elements.
Tensor make_tensor(ElementType type, Shape shape, std::span<const double> values);
Tensor make_integers(ElementType type, Shape shape, std::span<const std::int64_t> values);
Tensor make_vector(std::span<const std::int64_t> values);  // i64[n]
Tensor make_scalar(ElementType type, double value);
Tensor make_strings(Shape shape, std::vector<std::string> values);

// Bit-identical elements, equal types and shapes (NaN equals NaN).
bool identical(const Tensor& a, const Tensor& b);

// Bytes of elements as they lie in files (little-endian, narrow types packed), and back; nullopt
// if `bytes` has not exactly the length that type and shape ask for. Not for strings.
std::string to_file_bytes(const Tensor& tensor);
std::optional<Tensor> from_file_bytes(ElementType type, Shape shape, std::string_view bytes);

// Calls `body` with a value of the storage type: visit_storage(t.type(), [&]<class T>(T*) {…}).
template <class F>
decltype(auto) visit_storage(ElementType type, F&& body) {
  switch (storage_of(type)) {
    case Storage::f32:
      return body(static_cast<float*>(nullptr));
    case Storage::f64:
      return body(static_cast<double*>(nullptr));
    case Storage::c64:
      return body(static_cast<std::complex<float>*>(nullptr));
    case Storage::c128:
      return body(static_cast<std::complex<double>*>(nullptr));
    case Storage::i8:
      return body(static_cast<std::int8_t*>(nullptr));
    case Storage::i16:
      return body(static_cast<std::int16_t*>(nullptr));
    case Storage::i32:
      return body(static_cast<std::int32_t*>(nullptr));
    case Storage::i64:
      return body(static_cast<std::int64_t*>(nullptr));
    case Storage::u8:
      return body(static_cast<std::uint8_t*>(nullptr));
    case Storage::u16:
      return body(static_cast<std::uint16_t*>(nullptr));
    case Storage::u32:
      return body(static_cast<std::uint32_t*>(nullptr));
    case Storage::u64:
      return body(static_cast<std::uint64_t*>(nullptr));
    case Storage::boolean:
      return body(static_cast<bool*>(nullptr));
    case Storage::string:
      break;
  }
  return body(static_cast<std::string*>(nullptr));
}

#define ASSAY_STORAGE(T, S)                      \
  template <>                                    \
  struct StorageOf<T> {                          \
    static constexpr Storage value = Storage::S; \
  }
ASSAY_STORAGE(float, f32);
ASSAY_STORAGE(double, f64);
ASSAY_STORAGE(std::complex<float>, c64);
ASSAY_STORAGE(std::complex<double>, c128);
ASSAY_STORAGE(std::int8_t, i8);
ASSAY_STORAGE(std::int16_t, i16);
ASSAY_STORAGE(std::int32_t, i32);
ASSAY_STORAGE(std::int64_t, i64);
ASSAY_STORAGE(std::uint8_t, u8);
ASSAY_STORAGE(std::uint16_t, u16);
ASSAY_STORAGE(std::uint32_t, u32);
ASSAY_STORAGE(std::uint64_t, u64);
ASSAY_STORAGE(bool, boolean);
ASSAY_STORAGE(std::string, string);
#undef ASSAY_STORAGE

}  // namespace assay

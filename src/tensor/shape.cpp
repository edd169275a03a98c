#include "tensor/shape.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"

namespace assay {

std::optional<std::int64_t> checked_element_count(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  bool empty = false, too_large = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    empty = empty || extent == 0;
    too_large = __builtin_mul_overflow(count, extent, &count) || too_large;
  }
  if (empty) return 0;  // though the product of the others be too large: [2^40, 2^40, 0]
  return too_large ? std::nullopt : std::optional(count);
}

std::int64_t element_count(std::span<const std::int64_t> shape) {
  const std::optional<std::int64_t> count = checked_element_count(shape);
  ASSAY_CHECK(count.has_value());
  return *count;
}

Shape strides_of(std::span<const std::int64_t> shape) {
  Shape strides(shape.size());
  // Unsigned: beside a zero extent the others may have any product, and no stride is used.
  std::uint64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = static_cast<std::int64_t>(stride);
    stride *= static_cast<std::uint64_t>(shape[i]);
  }
  return strides;
}

std::optional<Shape> broadcast(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  if (a.size() < b.size()) std::swap(a, b);
  Shape result(a.begin(), a.end());
  const std::size_t offset = a.size() - b.size();
  for (std::size_t i = 0; i < b.size(); ++i) {
    std::int64_t& extent = result[offset + i];
    if (extent == b[i] || b[i] == 1) continue;
    if (extent != 1) return std::nullopt;
    extent = b[i];
  }
  return result;
}

Shape broadcast_strides(std::span<const std::int64_t> from, std::span<const std::int64_t> to) {
  ASSAY_CHECK(from.size() <= to.size());
  const std::size_t offset = to.size() - from.size();
  const Shape own = strides_of(from);
  Shape strides(to.size(), 0);
  for (std::size_t i = 0; i < from.size(); ++i) {
    ASSAY_CHECK(from[i] == to[offset + i] || from[i] == 1);
    if (from[i] == to[offset + i]) strides[offset + i] = own[i];
  }
  return strides;
}

std::string to_text(std::span<const std::int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ","));
}

}  // namespace assay

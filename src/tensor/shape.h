// Shapes of concrete tensors: extents, sizes without overflow, strides, broadcasting.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/inline_vector.h"

namespace assay {

using Shape = InlineVector<std::int64_t, 4>;

// The number of elements; nullopt if an extent is negative or the product exceeds 2^63-1.
std::optional<std::int64_t> checked_element_count(std::span<const std::int64_t> shape);
// The same for a shape known to be good.
std::int64_t element_count(std::span<const std::int64_t> shape);
// Row-major strides, in elements.
Shape strides_of(std::span<const std::int64_t> shape);
// Multidirectional (numpy) broadcasting; nullopt where extents do not fit.
std::optional<Shape> broadcast(std::span<const std::int64_t> a, std::span<const std::int64_t> b);
// Strides with which `from` is read as if it had shape `to` (0 along broadcast axes).
Shape broadcast_strides(std::span<const std::int64_t> from, std::span<const std::int64_t> to);
std::string to_text(std::span<const std::int64_t> shape);  // "[1,3,224,224]"

}  // namespace assay

// Values taken apart and put together along an axis, in every type and reading; and what two types
// or two values have in common.
#pragma once

#include <cstdint>
#include <span>

#include "patterns/call.h"

namespace assay {

// Elements [begin, end) of a tensor along `axis`.
Value piece(const Value& value, std::size_t axis, std::int64_t begin, std::int64_t end);
// Tensors one behind the other along `axis`; all extents but that one are equal. At least one.
Value joined(std::span<const Value> parts, std::size_t axis);

// The shape without the axis, and with an axis more.
Shape without_axis(Shape shape, std::size_t axis);
Shape with_axis(Shape shape, std::size_t axis, std::int64_t extent);

// The type of what may be of either type: extents and ranks that differ become unknown.
ValueType common_type(const ValueType& a, const ValueType& b);
ValueType common_type(std::span<const Value> values);

// The value of `a`, and all that `a` or `b` may be: "unknown" where types or shapes differ.
Value hull_of(const Value& a, const Value& b, Reading reading);

}  // namespace assay

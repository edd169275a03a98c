// Bulk conversions between tensors' storage and plain arrays of double, int64 and uint64.
#pragma once

#include <cstdint>

#include "tensor/tensor.h"

namespace assay {

// Elements [begin, end) of a real, integer or boolean tensor. 64-bit integers beyond 2^53 round to
// nearest.
void to_doubles(const Tensor& tensor, std::int64_t begin, std::int64_t end, double* out);
// Elements [begin, end) of an integer or boolean tensor. u64 wraps into int64, negative values
// wrap into uint64.
void to_integers(const Tensor& tensor, std::int64_t begin, std::int64_t end, std::int64_t* out);
void to_integers(const Tensor& tensor, std::int64_t begin, std::int64_t end, std::uint64_t* out);

// Writes `count` elements of `type` (real, integer or boolean) in their storage layout.
// Real types: rounds once, as round_to does. Integer types: truncates toward zero and wraps modulo
// 2^width; NaN and infinities become 0. Boolean: false for ±0, true for all else, NaN too.
void from_doubles(ElementType type, const double* in, std::int64_t count, void* storage_out,
                  bool saturate = false);
// Real types: rounds once. Integer types: wraps; `saturate` has no say. Boolean: nonzero is true.
void from_integers(ElementType type, const std::int64_t* in, std::int64_t count, void* storage_out,
                   bool saturate = false);
void from_integers(ElementType type, const std::uint64_t* in, std::int64_t count, void* storage_out,
                   bool saturate = false);

}  // namespace assay

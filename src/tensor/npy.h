// Reads and writes .npy and .npz files.
//
// Numbers and booleans map to the element type of the same name. Text (U) and bytes (S) become
// string tensors, UTF-8 and as they are. Types that numpy lacks are written as plain void (V1, V2),
// one element's bits in each; void is read as a string tensor of the raw bytes, which
// from_raw_elements turns into the type that the reader knows it has. Object arrays, structured
// arrays and dates are refused.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tensor/tensor.h"

namespace assay {

using NpzEntry = std::pair<std::string, Tensor>;

Result<Tensor> read_npy(const std::string& path);
// `where` names the bytes in errors.
Result<Tensor> parse_npy(std::string_view bytes, std::string_view where);
// In the order of the archive, names without ".npy".
Result<std::vector<NpzEntry>> read_npz(const std::string& path);

Result<void> write_npy(const std::string& path, const Tensor& tensor);
// Uncompressed; equal tensors give equal files.
Result<void> write_npz(const std::string& path, std::span<const NpzEntry> tensors);

// A string tensor of raw elements, as void is read, as the type whose bits they are; nullopt if
// the elements have not that type's size.
std::optional<Tensor> from_raw_elements(const Tensor& raw, ElementType type);

}  // namespace assay

// A look at the bytes of an ONNX file before they are decoded: is it one at all, is it whole, is
// it nested or large beyond the limits. It skips the weights, takes little memory, and knows where
// the trouble is, which the decoder does not.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"

namespace assay {

inline constexpr std::int64_t kNewestIrVersion = 14;  // of the pinned standard, 1.23.2

struct OnnxLimits {
  int max_nesting = 0;        // of subgraphs
  std::size_t max_bytes = 0;  // that the decoded model may take
};

// Bytes that the decoded model will take, about; or kind "unreadable" or "limit", without the
// file's name, which the caller knows.
Result<std::size_t> scan_onnx(std::string_view bytes, const OnnxLimits& limits);

}  // namespace assay

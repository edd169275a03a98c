// Values of ONNX backend tests: .pb files with a tensor, a sequence, an optional or a map.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "graph/value.h"

namespace assay {

// A file does not say what it holds: `type` is the model's type of that input or output. Where the
// type leaves the element type open, the file decides. Kinds "unreadable", "missing", "invalid".
Result<Value> read_test_value(const std::filesystem::path& path, const ValueType& type);
Result<Value> parse_test_value(std::string_view bytes, const ValueType& type,
                               const std::string& where);

// The bytes of such a file. Only values without spread have them (ASSAY_CHECK).
std::string to_test_bytes(const Value& value, const std::string& name);

}  // namespace assay

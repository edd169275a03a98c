// Reads .onnx files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/order.h"

namespace assay {

struct ImportOptions {
  // Where external data may lie; read_onnx takes the model's own folder if none is given.
  std::filesystem::path folder{};
  int max_nesting = kMaxNesting;                 // of subgraphs
  std::size_t max_bytes = std::size_t{8} << 30;  // of the decoded model, external data apart
};

// Kinds: "missing" (the model or its external data), "unreadable" (not a whole ONNX model; external
// data that is cut or lies outside the folder), "limit", "invalid" (it decodes, but a tensor, a
// type or an attribute contradicts itself). Messages are one line and name the file.
// Names are not checked here: graph/order.h does that.
Result<Model> read_onnx(const std::filesystem::path& path, const ImportOptions& options = {});
Result<Model> parse_onnx(std::string_view bytes, const std::string& where,
                         const ImportOptions& options = {});

}  // namespace assay

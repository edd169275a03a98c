// Writes .onnx files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "graph/graph.h"

namespace assay {

// One file's bytes; kind "limit" if they are 2 GiB or more, which no ONNX file can be.
Result<std::string> to_onnx(const Model& model);

struct ExportOptions {
  // Initializers lie beside the model, in FILE.data, if together they exceed this.
  std::uint64_t largest_inside = std::uint64_t{3} << 29;
};

// Replaces the file (and FILE.data) only when it is whole, so that a model may be written over the
// file that it still shares its weights with.
Result<void> write_onnx(const Model& model, const std::filesystem::path& path,
                        const ExportOptions& options = {});

// Writes bytes to a new file and gives it its name when it is whole.
Result<void> write_file(const std::filesystem::path& path, const std::string& bytes);

}  // namespace assay

// Reads the outline of an .onnx file: all but its large weights.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "formats/onnx_import.h"

namespace assay {

// A model whose large weights are inputs of the graph, with their types; `weights` names them.
struct Outline {
  Model model;
  std::set<std::string> weights;
};

// For who needs to know what a model takes and gives while another process holds its weights: none
// of their bytes is read. Errors as of read_onnx.
Result<Outline> read_onnx_outline(const std::filesystem::path& path,
                                  std::size_t largest = std::size_t{1} << 16);

}  // namespace assay

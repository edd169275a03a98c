// Keras models in files: .keras (a zip of a config and HDF5 weights), .h5 (both in one HDF5 file,
// as Keras 2 and 3 write it), and configs alone in .json.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "graph/graph.h"

namespace assay {

bool is_keras(const std::string& path);  // by its ending
// Nothing that a file holds is executed. A config alone gives a model whose layers have no weights
// and no masks.
Result<Model> read_keras(const std::filesystem::path& path);

}  // namespace assay

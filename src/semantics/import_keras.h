// A Keras model that names the weights it needs, also where its file holds none.
#pragma once

#include <string>

#include "base/result.h"
#include "graph/graph.h"

namespace assay {

// Reads the file; weights that a config alone leaves out become inputs of the model, marked as
// parameters, of the shapes that the layers ask for.
Result<Model> import_keras(const std::string& path);

}  // namespace assay

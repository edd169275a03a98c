// An example of a layer: arguments and shapes that it accepts, and the graph that it then means.
// The reference page shows it.
#pragma once

#include <optional>

#include "layers/keras/layer.h"

namespace assay::keras {

struct LayerExample {
  Node node;                  // with all arguments
  std::vector<Known> inputs;  // its own and its weights
  std::vector<Weight> weights;
  Graph graph;
};

// Nothing if no shape that is tried fits; every layer of the table has one (a test says so).
std::optional<LayerExample> example_of(const Layer& layer);

}  // namespace assay::keras

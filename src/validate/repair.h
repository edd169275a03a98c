// Repair: the smallest changes after which a model of layers is valid: another value of an
// argument, a layer that changes a shape put in front of another one, a weight cut to size.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace assay {

struct LayerChange {
  std::string layer;
  std::string what;  // "strides: 3 in place of 1", "Reshape [4,1] in front"
};

struct Repair {
  Model model;
  std::vector<LayerChange> changes;  // in the order in which they were made
};

// Nothing where no change that is tried makes the model valid. What is found has been validated.
std::optional<Repair> repair(const Model& model);

}  // namespace assay

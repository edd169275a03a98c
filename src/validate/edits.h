// Edits: what might be changed at one layer of a model to make it valid, the smallest first.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "semantics/infer_types.h"

namespace assay {

struct Edit {
  std::string what;
  double cost = 0;
  // The node in its new form, what goes in front of it, and weights that replace others.
  Node node;
  std::vector<Node> before;
  std::vector<NamedTensor> weights;
};

// Of the node at `index` of the main graph, a layer of Keras.
std::vector<Edit> possible_edits(const Model& model, const ModelTypes& types, std::size_t index);

}  // namespace assay

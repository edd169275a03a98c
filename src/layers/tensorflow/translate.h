// From a TensorFlow graph to a model: each node becomes the standard's operators that it means.
#pragma once

#include <string>
#include <unordered_map>

#include "graph/graph.h"
#include "layers/tensorflow/graph_def.h"
#include "patterns/site.h"

namespace assay::tensorflow {

// What is known of values, by name ("x", "loop/body/x"): types, shapes, small constants.
using KnownValues = std::unordered_map<std::string, Known>;

struct Translation {
  Model model;
  std::size_t unresolved = 0;  // nodes that have a definition, which needs to know more about them
};

// Never fails: a node without a meaning stays as one of domain "tensorflow", and what is wrong with
// the graph (names, cycles) is wrong with the model too, where validation finds it.
Translation translate(const GraphDef& graph, const KnownValues& known);

}  // namespace assay::tensorflow

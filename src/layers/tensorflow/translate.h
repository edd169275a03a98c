// From a TensorFlow graph to a model: each node becomes the standard's operators that it means.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "layers/tensorflow/graph_def.h"
#include "patterns/site.h"

namespace assay::tensorflow {

// What is known of values, types, shapes and small constants, while the graph is being written.
class KnownValues {
 public:
  virtual ~KnownValues() = default;
  // By name ("x", "loop/body/x"); null where nothing is. `so_far` is the model's main graph.
  virtual const Known* find(const Graph& so_far, const std::string& name) = 0;
  // For the outputs of all nodes in turn, whether any node reads them, itself or in its graphs.
  virtual std::vector<bool> read(const Graph& whole) = 0;
};

struct Translation {
  Model model;
  std::size_t unresolved = 0;  // nodes that have a definition, which needs to know more about them
  bool loops = false;          // what is in them can only be known when they are whole
};

// That its models import.
const std::map<std::string, std::int64_t>& translated_opsets();

// Never fails: a node without a meaning stays as one of domain "tensorflow", and what is wrong with
// the graph (names, cycles) is wrong with the model too, where validation finds it.
Translation translate(const GraphDef& graph, KnownValues& known);

}  // namespace assay::tensorflow

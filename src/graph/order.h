// What can be wrong with the names of a model, whatever its operators mean: order, cycles, scopes.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace assay {

// Subgraphs inside subgraphs beyond this depth are refused everywhere, so that no walk over a
// graph needs more stack than there is.
inline constexpr int kMaxNesting = 500;

// `node` is the path to the node ("loop/body/add"), or to its graph where no node is to blame.
// Rules: Graph.order (used before its definition), Graph.cycle, Graph.undefined, Graph.duplicate,
// Graph.shadow, Graph.output (a graph output that its graph does not make), Graph.operator (a node
// without an operator), Graph.unnamed, Graph.attribute (given twice), Graph.function (defined
// twice), Graph.recursion (a function that calls itself), Graph.nesting, Graph.opset (a domain is
// used without an opset import).
struct StructureFinding {
  std::string node;
  std::string message;  // one line, without the path
  std::string rule;
};

// In order of execution; stops after a thousand.
std::vector<StructureFinding> check_structure(const Model& model);

// Names that a subgraph uses but does not define, in order of first use.
std::vector<std::string> captured_names(const Graph& graph);

// Calls `visit(const std::string& attribute, const Graph&)` for each subgraph of a node.
template <class F>
void for_each_subgraph(const Node& node, F&& visit) {
  for (const Attribute& attribute : node.attributes) {
    if (const auto* one = std::get_if<std::shared_ptr<const Graph>>(&attribute.value)) {
      if (*one) visit(attribute.name, **one);
    } else if (const auto* many =
                   std::get_if<std::vector<std::shared_ptr<const Graph>>>(&attribute.value)) {
      for (const auto& graph : *many) {
        if (graph) visit(attribute.name, *graph);
      }
    }
  }
}

}  // namespace assay

// Plan: a graph made ready to run: operators looked up, names resolved to slots, deaths known.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/catalogue.h"

namespace assay {

struct Plan;

// A value: slot `slot` of the scope `depth` levels out (0: this graph's own).
struct SlotRef {
  int depth = 0;
  int slot = -1;  // -1: an input that is not given
};

struct PlannedNode {
  Node node;                        // with the standard's defaults filled in
  std::size_t position = 0;         // in its graph
  std::string label;                // how a person finds it
  Lookup found;                     // entry null: unknown to the catalogue
  std::unique_ptr<Plan> function;   // the body of a model-local function, if the file has one
  std::map<const Graph*, std::unique_ptr<Plan>> subgraphs;
  std::vector<SlotRef> inputs;
  std::vector<int> outputs;         // -1: not wanted
  std::vector<int> dying;           // slots of this scope last used here
};

struct Plan {
  std::vector<PlannedNode> nodes;
  std::vector<std::string> names;   // of the slots
  std::vector<int> inputs;          // slots; -1 for one without a name
  std::vector<SlotRef> outputs;
  std::vector<std::pair<int, Tensor>> constants;  // initialisers
};

// Opset imports by domain, and the functions that a file brings along.
struct Imports {
  const std::map<std::string, std::int64_t>* opsets;
  const Model* model = nullptr;     // of the functions; may be null
};

// The graph must have passed the structural checks of graph/order.h: an undefined name throws
// EvaluationError, since the catalogue's own graphs and files come here alike.
std::unique_ptr<Plan> make_plan(const Graph& graph, const Imports& imports);

}  // namespace assay

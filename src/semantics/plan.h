// Plan: a graph made ready to run: operators looked up, names resolved to slots, deaths known.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "ops/catalogue.h"

namespace assay {

struct Plan;

// A value: slot `slot` of the scope `depth` levels out (0: this graph's own).
struct SlotRef {
  int depth = 0;
  int slot = -1;      // -1: an input that is not given
  bool last = false;  // nothing after this reads the value: it may be taken
};

struct PlannedSubgraph {
  std::string attribute;
  const Graph* graph;
  std::unique_ptr<const Plan> plan;
};

struct PlannedNode {
  // A node that leaves nothing out is the graph's own.
  PlannedNode(const Node& whole, const Lookup& found) : node(whole), found(found) {}
  PlannedNode(std::unique_ptr<const Node> filled, const Lookup& found)
      : node(*filled), filled(std::move(filled)), found(found) {}

  const Node& node;  // with the standard's defaults filled in
  std::unique_ptr<const Node> filled;
  Lookup found;              // entry null: unknown to the catalogue
  std::size_t id = 0;        // of this node among all of the plan and the plans inside it
  std::size_t position = 0;  // in its graph
  std::shared_ptr<const Plan> function;  // the body of a model-local function, if the file has one
  std::vector<PlannedSubgraph> subgraphs;
  InlineVector<SlotRef, 3> inputs;
  InlineVector<int, 4> outputs;  // -1: not wanted
  InlineVector<int, 4> dying;    // slots of this scope last used here, initialisers apart

  std::string label() const;  // how a person finds it
  // "loop/body/", "call/Function/": what names inside begin with.
  std::string path_into(const PlannedSubgraph& subgraph) const;
  std::string path_into_function() const;
};

struct Plan {
  std::size_t id = 0;       // of this plan among all inside the outermost one
  std::vector<Node> taken;  // of a graph that exists for nothing but this plan
  std::vector<PlannedNode> nodes;
  std::vector<std::string> names;  // of the slots; of a graph that grew, only of what no node makes
  std::vector<int> inputs;         // slots; -1 for one without a name
  std::vector<SlotRef> outputs;
  std::vector<std::pair<int, Tensor>> constants;  // initialisers
  std::vector<int> kept;  // slots that still have a value after the last node, initialisers apart
  // What the file says about types, by slot: of values, outputs, sparse initialisers and, first and
  // one each, of inputs. Only in a plan for types.
  std::vector<std::pair<int, ValueType>> declared;
  std::size_t node_count = 0, plan_count = 0;  // ids, here and inside, are below
};

// What graphs that the catalogue builds import: the newest version of everything.
const std::map<std::string, std::int64_t>& newest_opsets();

// Opset imports by domain, and the functions that a file brings along.
struct Imports {
  const std::map<std::string, std::int64_t>* opsets;
  const Model* model = nullptr;  // of the functions; may be null
  // A plan for types: an undefined name is a value of which nothing is known, and sparse
  // initialisers stay as they are.
  bool for_types = false;
};

// The graph must outlive the plan, which points to its nodes and names.
//
// It must have passed the structural checks of graph/order.h: an undefined name throws
// EvaluationError, since the catalogue's own graphs and files come here alike. So does a nesting of
// graphs and functions that is too deep, or that unfolds to too many nodes.
std::unique_ptr<Plan> make_plan(const Graph& graph, const Imports& imports);

// Calls visit(path, node) for each node in order of execution, and for those inside functions and
// subgraphs, each after the node that it is in.
void for_each_node(const Plan& plan, const std::string& path,
                   const std::function<void(const std::string& path, const PlannedNode&)>& visit);

}  // namespace assay

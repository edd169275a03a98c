// Types, shapes and small constants of all values of a model before anything runs, and what the
// catalogue objects to on the way.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/chunked.h"
#include "graph/graph.h"
#include "ops/check.h"
#include "patterns/site.h"
#include "semantics/plan.h"

namespace assay {

// What is to be said about one node (or an initialiser or output, with an empty `op`).
struct NodeRemarks {
  std::string layer;  // "loop/body/add"
  std::string op, domain;
  std::vector<Violation> violations;
  std::vector<Undecided> undecided;
  bool unknown = false;  // neither the catalogue nor the file says what it does
};

struct NamedValueType {
  std::string name;                    // "loop/body/x"
  std::shared_ptr<const Known> known;  // one of all values that do not differ, where that is seen
};

struct ModelTypes {
  Chunked<NamedValueType> values;    // in order of their definition; inputs first
  std::vector<Known> outputs;        // of the main graph
  std::vector<NodeRemarks> remarks;  // in order of execution; only where there is something to say
  // Of the main graph, as long as its nodes stay where they are; slots are places in `values`. Null
  // where inference did not need one that others can use.
  std::shared_ptr<const Plan> plan{};
  const Node* planned = nullptr;  // the first of these nodes
};

struct TypeOptions {
  std::map<std::string, ValueType> inputs;  // what is known of inputs beyond the file
  bool keep_values = true;                  // false: `values` stays empty
};

// A model whose names are wrong (graph/order.h) is inferred as far as its names reach.
ModelTypes infer_types(const Model& model, const TypeOptions& options = {});

}  // namespace assay

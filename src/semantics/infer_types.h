// Types, shapes and small constants of all values of a model before anything runs, and what the
// catalogue objects to on the way.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/check.h"
#include "patterns/site.h"

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
  std::string name;  // "loop/body/x"
  Known known;
};

struct ModelTypes {
  std::vector<NamedValueType> values;  // in order of their definition; inputs first
  std::vector<Known> outputs;          // of the main graph
  std::vector<NodeRemarks> remarks;  // in order of execution; only where there is something to say
};

struct TypeOptions {
  std::map<std::string, ValueType> inputs;  // what is known of inputs beyond the file
  bool keep_values = true;                  // false: `values` stays empty
};

// A model whose names are wrong (graph/order.h) is inferred as far as its names reach.
ModelTypes infer_types(const Model& model, const TypeOptions& options = {});

// The same for a graph that is still being written, by someone who needs to know what is known of
// its values so far. A name that is used before it is defined is a value of which nothing is known.
class GrowingTypes {
 public:
  explicit GrowingTypes(const std::map<std::string, std::int64_t>& opsets);
  ~GrowingTypes();
  GrowingTypes(const GrowingTypes&) = delete;
  GrowingTypes& operator=(const GrowingTypes&) = delete;

  // Looks at the inputs, initialisers and nodes that the graph has gained since the last call.
  void follow(const Graph& graph);
  // Of the graph's own values; null if there is none of the name.
  const Known* find(const std::string& name) const;
  ModelTypes take(const Graph& graph);  // at the end

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace assay

// Puts the graph that stands for a layer or an operation into a model, in its place.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/name_index.h"

namespace assay {

// What is replaced: its name and kind, which all nodes of the graph keep as their origin, the name
// that the node of its first output has in the model, and the names of the values around it.
struct Replaced {
  std::string name, op;
  std::string place;
  std::vector<std::string> inputs, outputs;  // "" is one that is not given, or not wanted
};

// Small inner constants of one graph, which its operations need over and over: the name of each.
class SharedConstants {
 public:
  // The name under which the same elements are there already; else `name`, from now on.
  const std::string& name_of(const Tensor& tensor, const std::string& name);

 private:
  std::string key_;  // type, shape and elements of the one at hand
  NameIndex keys_{NameIndex::Names::copied};
  std::deque<std::string> names_;  // by the number of the key
};

// Adds the nodes of `body` to `into`. Its inner names become "place::v3", where no value of the
// model may have "::" in its name; its initialisers become Constant nodes, unless `shared` has
// them.
void splice(const Replaced& replaced, Graph&& body, Graph& into, SharedConstants* shared = nullptr);

Node constant_node(std::string name, Tensor tensor);

}  // namespace assay

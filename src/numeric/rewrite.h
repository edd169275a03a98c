// Rewrites: changes to a model that keep an operation inside of its domain.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "numeric/judge.h"
#include "patterns/function.h"

namespace assay {

// Nodes that are put before some inputs of an operation, or in the place of a value.
struct Rewrite {
  std::string name;                   // "clip", "add-epsilon", "log-softmax"
  std::string text;                   // "clip the input to [1e-07, 1]"
  Composition body = nullptr;         // what is put there
  std::vector<Attribute> parameters;  // that the body reads
  std::vector<std::size_t> inputs;    // of the operation that get it before them; or none, and
  std::string source, target;         // a value that is computed anew from another one
  std::string why;                    // what the unsafe operation is part of, in words
  std::string check;                  // and the check that is about it; empty: of nothing

  bool operator==(const Rewrite& other) const {
    return body == other.body && source == other.source && target == other.target &&
           inputs == other.inputs;
  }
};

// The graph at a path ("", "loop/body/"); null if there is none.
const Graph* find_graph(const Model& model, std::string_view path);
// Calls edit(graph) on a copy of it, which takes its place; false if there is none.
bool edit_graph(Model& model, const std::string& path, const std::function<void(Graph&)>& edit);

// Puts the rewrite at the node of the graph. `type_of` gives the types of values; false if the
// node is not there or nobody knows the type.
using TypeOf = std::function<ValueType(const std::string&)>;
bool apply_rewrite(const Rewrite& rewrite, const std::string& node, const TypeOf& type_of,
                   Graph& graph);

// Rewrites of an unsafe operation's inputs that may make it safe, the gentlest first.
std::vector<Rewrite> guards_for(const LintSite& site);

}  // namespace assay

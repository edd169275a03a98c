// Retyping: a model with float32 turned into a shorter format, but for some operations.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace assay {

struct Retyped {
  Model model;
  // Conversions that were put in, by their names, and the operations that read them.
  std::map<std::string, std::vector<std::string>> casts;
  // Operations that were turned, and what they read is made by, by the names of operations.
  std::map<std::string, std::set<std::string>> makers;
};

// The name by which a person knows a node of the main graph.
std::string operation_name(const Node& node, std::size_t position);

// Inputs, weights and constants stay as they are and are converted where they are read. Operations
// in `keep` and those that the standard has not in the format stay, too. What a graph inside of a
// node is given and gives is float32; the operations in it are turned.
Retyped retyped(const Model& model, ElementType to, const std::set<std::string>& keep);

}  // namespace assay

// A node in one line, for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace assay {

inline Node make_node(std::string op, std::vector<std::string> inputs,
                      std::vector<std::string> outputs) {
  Node node;
  node.op = std::move(op);
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  return node;
}

}  // namespace assay

// The published localisation: how much more two backends differ behind a layer than before it.
#pragma once

#include <string>
#include <vector>

#include "backends/answer.h"
#include "graph/graph.h"

namespace assay {

struct LayerRate {
  std::string name, op;      // of the node
  double delta = 0;          // mean absolute difference of its outputs on the two backends
  double rate = 0;           // (δ - δ_pre) / (δ_pre + 1e-7), δ_pre the largest of what feeds it
  bool highlighted = false;  // above the third quartile of all rates
};

// Of the nodes whose outputs both backends have shown, in order of execution.
std::vector<LayerRate> rate_map(const Graph& graph, const NamedValues& a, const NamedValues& b);

}  // namespace assay

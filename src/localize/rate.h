// The published localisation: how much more two backends differ behind a layer than before it.
#pragma once

#include <map>
#include <string>
#include <utility>
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

// The mean absolute differences of values that two backends have shown, by name; it can be told of
// some values at a time.
class Deltas {
 public:
  void add(const NamedValues& a, const NamedValues& b);
  const std::map<std::string, double>& by_name() const { return deltas_; }

 private:
  std::map<std::string, double> deltas_;
};

// Of the nodes whose outputs both backends have shown, in order of execution.
std::vector<LayerRate> rate_map(const Graph& graph, const Deltas& deltas);

// The map of two backends.
struct PairMap {
  std::string a, b;
  std::vector<LayerRate> layers;
};

// The maps of all pairs of backends whose inner values are shown.
class PairMaps {
 public:
  explicit PairMaps(std::vector<std::string> backends);
  // One element a backend; null: it shows nothing.
  void add(const std::vector<const NamedValues*>& shown);
  std::vector<PairMap> finish(const Graph& graph) const;

 private:
  std::vector<std::string> backends_;
  std::map<std::pair<std::size_t, std::size_t>, Deltas> deltas_;
};

}  // namespace assay

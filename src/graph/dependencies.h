// Which node of a list needs which other: producers, strongly connected parts, a path of a cycle.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"

namespace assay {

// Of one graph's or function's nodes; a node also needs what its subgraphs capture.
class Dependencies {
 public:
  explicit Dependencies(const std::vector<Node>& nodes);

  // The first node that makes the name.
  std::optional<std::size_t> producer(std::string_view name) const;
  bool in_one_cycle(std::size_t a, std::size_t b) const;
  std::size_t component(std::size_t node) const { return component_[node]; }
  // Nodes from `from` along needs to `to`, both included; both must be in one cycle.
  std::vector<std::size_t> path(std::size_t from, std::size_t to) const;

 private:
  void find_components();

  std::unordered_map<std::string_view, std::size_t> producers_;
  std::vector<std::vector<std::size_t>> needs_;  // by node, without doubles
  std::vector<std::size_t> component_;           // equal for nodes of one cycle
};

}  // namespace assay

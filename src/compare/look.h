// Look: which inner values are asked for together, since all of them may not fit into memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "semantics/evaluator.h"

namespace assay {

// Nodes of a graph that are looked into at once, by position: from `first` to before `last`.
struct Look {
  std::size_t first = 0, last = 0;
  std::vector<std::string> watched;  // their values and those that they read; empty: all there are
};

// Adds up what the values of each node of a graph take, those of its subgraphs with them.
class ValueSizes {
 public:
  explicit ValueSizes(std::size_t nodes) : bytes_(nodes, 0) {}
  void observe(const Evaluated& evaluated);
  const std::vector<std::uint64_t>& bytes() const { return bytes_; }

 private:
  std::vector<std::uint64_t> bytes_;
  std::uint64_t inner_ = 0;  // of subgraphs whose node comes later
};

// As few looks as keep each within `most` bytes; a node that alone takes more has its own.
std::vector<Look> plan_looks(const Graph& graph, const std::vector<std::uint64_t>& bytes,
                             std::uint64_t most);

// The nodes that have to be evaluated to judge those of a look: themselves, and those from which
// the backend has not shown what is needed.
std::vector<bool> nodes_to_judge(const Graph& graph, const Look& look,
                                 const std::map<std::string, Tensor>& shown);

}  // namespace assay

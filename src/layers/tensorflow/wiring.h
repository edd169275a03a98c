// The edges of a TensorFlow graph: which node takes which output of which other.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/inline_vector.h"
#include "layers/tensorflow/definitions.h"
#include "layers/tensorflow/graph_def.h"

namespace assay::tensorflow {

inline constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

struct Edge {
  std::size_t node = kNowhere;  // that makes the value; kNowhere: no node has the name
  std::size_t output = 0;
};

struct WiredNode {
  const NodeDef* def = nullptr;
  const Definition* definition = nullptr;  // null: nobody says what it means
  InlineVector<Edge, 2> inputs;            // without control
  InlineVector<std::size_t, 2> after;      // nodes that only come before it: control
  std::size_t outputs = 0;
  bool goes_back = false;  // a NextIteration
  bool silent = false;     // nobody wants a value of it
  bool used = false;       // a node that is not silent takes a value of it

  Part part() const { return definition ? definition->part : Part::value; }
  bool is(std::string_view op) const;  // also as a reference: RefSwitch is a Switch
};

class Wiring {
 public:
  explicit Wiring(const GraphDef& graph);

  const std::vector<WiredNode>& nodes() const { return nodes_; }
  const WiredNode& operator[](std::size_t i) const { return nodes_[i]; }

  // Each after what its inputs need.
  const std::vector<std::size_t>& order() const { return order_; }

  // "x", "x:1": what the value is called in the model; as the file says where no node makes it.
  std::string value_name(const Edge& edge) const;
  std::string input_name(std::size_t node, std::size_t input) const;
  // The variable, queue or iterator that a value comes from, by way of nodes that pass it on.
  Edge root_of(Edge edge) const;

 private:
  void connect();
  void count_outputs();
  void find_silent();

  std::vector<WiredNode> nodes_;
  std::vector<std::size_t> order_;
};

// The nodes in an order in which each comes after what it needs, the file's wherever that is one.
// NextIteration is needed by nobody; nodes of any other cycle come in the file's order. `more`
// holds what a node needs beyond its inputs.
using Needs = std::unordered_map<std::size_t, std::vector<std::size_t>>;
std::vector<std::size_t> execution_order(const Wiring& wiring, const Needs& more);

}  // namespace assay::tensorflow

// Fused: what a node gives where a backend computes it as one with the nodes that feed it.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "semantics/evaluator.h"

namespace assay {

// Nodes that work on single elements are often computed as one, without rounding between them, also
// where the values between are shown, and as one with the product or the convolution before them.
// Their bounds then propagate, but only inside of such a chain.
class FusedChains {
 public:
  // Remembers a node of the main graph if it can be part of a chain. `plain`: its bounds were not
  // computed, so that its outputs do not tell whether they were rounded.
  void observe(const Evaluated& evaluated, bool plain);

  // The bound of an output with a few of the nodes before it left unrounded, and what enters the
  // chain as well; nothing if the node cannot be part of a chain.
  std::optional<Value> result(const Evaluated& evaluated, std::size_t output) const;

 private:
  struct Link {
    const PlannedNode* node;
    std::vector<Value> inputs;  // that it was evaluated on
    std::size_t output;
  };
  bool is_computed(const std::string& name) const;
  Value carried(const std::string& name, const Value& shown, int depth) const;
  std::vector<Value> carried_inputs(const PlannedNode& node, std::span<const Value> inputs,
                                    int depth) const;

  std::unordered_map<std::string, Link> links_;  // by the value that they make
  std::unordered_set<std::string> computed_;     // values that were rounded when they were shown
  std::unordered_map<std::string, Link> open_;   // values of which it takes bounds to tell
};

}  // namespace assay

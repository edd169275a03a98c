// GrowingTypes: inference over a graph that is still being written.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "semantics/infer_types.h"

namespace assay {

// For someone who needs to know what is known of its values so far, and in the end has what
// infer_types would say. A name that is used before it is defined is a value of which nothing is
// known.
class GrowingTypes {
 public:
  explicit GrowingTypes(const std::map<std::string, std::int64_t>& opsets);
  ~GrowingTypes();
  GrowingTypes(const GrowingTypes&) = delete;
  GrowingTypes& operator=(const GrowingTypes&) = delete;

  // Looks at the inputs, initialisers and nodes that the graph has gained since the last call.
  void follow(const Graph& graph);
  // Of the graph's own values; null if there is none of the name.
  const Known* find(const std::string& name) const;
  // For the outputs of all nodes in turn, whether any node reads them, itself or in its graphs. Of
  // nodes that are nested too deep to be followed, it says so.
  std::vector<bool> read(const Graph& graph);
  ModelTypes take(const Graph& graph);  // at the end

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace assay

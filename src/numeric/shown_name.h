// The name that a person knows a node by: that of its origin, else its own.
#pragma once

#include <string>

#include "graph/origin.h"

namespace assay {

inline std::string shown_name(const Node& node, const std::string& own) {
  const std::string* origin = find_property(node.metadata, kOriginNode);
  return origin ? *origin : own;
}

}  // namespace assay

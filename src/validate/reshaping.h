// Chains of layers that make one shape of another: Reshape, ZeroPadding and Cropping.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace assay {

using Extents = std::vector<std::int64_t>;  // behind the batch

// Layers from the value `from` to a value that is called `name`, the last of them; their
// attributes are filled in. Empty if three spatial axes do not suffice.
struct ShapeChain {
  std::vector<Node> layers;
  std::string what;  // "Reshape [4,1], ZeroPadding1D [0,2]"
};
ShapeChain shape_chain(const std::string& from, const Extents& has, const Extents& wants,
                       const std::string& name);

// The shapes of `axes` axes that hold the same elements in the same order, by putting in axes of
// one element or by joining neighbours.
std::vector<Extents> shapes_of_rank(const Extents& has, std::size_t axes);

}  // namespace assay

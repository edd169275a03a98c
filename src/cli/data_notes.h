// What is worth knowing about data before anyone wonders about results.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/value.h"

namespace assay {

// A line for each input that has NaN or infinities, over all pieces.
std::vector<std::string> notes_on(const Graph& graph,
                                  const std::vector<std::vector<Value>>& pieces);

}  // namespace assay

// Change: what two answers of one backend to the same question differ in, beyond rounding.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/answer.h"
#include "compare/spread.h"
#include "graph/graph.h"

namespace assay {

struct Change {
  std::string output;
  std::size_t element = 0;
  double excess = 0;  // times what rounding allows; infinity for another type or shape
  bool form = false;  // it is one of type or shape
};

// The first output that differs; `spreads` are those of the graph's outputs.
std::optional<Change> change_between(const std::vector<Spread>& spreads, const Graph& graph,
                                     const Answer& before, const Answer& after);

// Whether some output that chance has no part in differs by a hundredth of its largest element,
// whatever rounding allows.
bool is_large_change(const std::vector<Spread>& spreads, const Graph& graph, const Answer& before,
                     const Answer& after);

}  // namespace assay

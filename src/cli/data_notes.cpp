#include "cli/data_notes.h"

#include <fmt/format.h>

#include "graph/names.h"
#include "semantics/nonfinite.h"

namespace assay {

std::vector<std::string> notes_on(const Graph& graph,
                                  const std::vector<std::vector<Value>>& pieces) {
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    NonFiniteCount count;
    for (const std::vector<Value>& piece : pieces) {
      const NonFiniteCount one = count_nonfinite(piece[i]);
      count.nan += one.nan;
      count.infinite += one.infinite;
    }
    if (!count.any()) continue;
    notes.push_back(fmt::format("the data for input {} have {} NaN and {} infinities",
                                in_quotes(graph.inputs[i].name), count.nan, count.infinite));
  }
  return notes;
}

}  // namespace assay

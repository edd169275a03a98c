// Criteria: what counts as equal, where the user says so instead of the bound.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "compare/distance.h"
#include "compare/spread.h"
#include "graph/graph.h"

namespace assay {

// By the name of an output; under "" what holds for those that are not named.
struct Criteria {
  std::map<std::string, double> relative{}, absolute{};
  // None: the bound, the MAD distance, and with classes as labels the class distance.
  std::map<std::string, std::vector<Metric>> metrics{};

  // Whether tolerances take the place of the bound for an output.
  bool tolerates(const std::string& output) const;
};

// Reads "1e-3" or "OUTPUT=1e-3", and "l2" or "OUTPUT=l2". Errors of kind "usage": no such output,
// no such metric, no number that is 0 or more.
Result<Criteria> read_criteria(const Graph& graph, const std::vector<std::string>& relative,
                               const std::vector<std::string>& absolute,
                               const std::vector<std::string>& metrics);

// Puts given tolerances in the place of what rounding allows.
void apply(const Criteria& criteria, const Graph& graph, std::vector<Spread>& spreads);

}  // namespace assay

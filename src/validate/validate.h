// Validation: everything that is wrong with a model, found without running it.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace assay {

struct Finding {
  std::string layer;          // "loop/body/add"; a value's name, or "", where no node is to blame
  std::string operator_name;  // "class" in reports
  std::string kind;           // "Dimension Error", … (the contract lists them)
  std::string rule;           // "AveragePool.window-fits", "Graph.cycle": stable
  std::string expected, found;
  double badness = 0;   // grows with the distance from valid
  std::string message;  // one line that a person can act on
};

// A rule that cannot be decided before the model runs.
struct OpenQuestion {
  std::string layer, rule, needs;
};

// A node of which neither the catalogue nor the file says what it does; not an error.
struct UnknownNode {
  std::string layer, operator_name, domain;
};

struct ValidationResult {
  std::vector<Finding> findings;  // in order of execution
  std::vector<OpenQuestion> undecided;
  std::vector<UnknownNode> unknown;

  bool valid() const { return findings.empty(); }
};

ValidationResult validate(const Model& model);

}  // namespace assay

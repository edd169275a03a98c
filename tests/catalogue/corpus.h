// The corpus on which the catalogue is checked against itself: every one-node test of the standard
// and every case of the case files.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/value.h"

namespace assay {

struct Specimen {
  std::string id;
  Node node;
  int opset = 0;
  std::vector<Value> inputs;
};

const std::vector<Specimen>& corpus();

}  // namespace assay

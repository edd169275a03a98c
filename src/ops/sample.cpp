// Operators that read an image between its pixels.
#include "ops/families.h"
#include "ops/sample_parts.h"

namespace assay {

std::vector<Operator> sample_operators() {
  std::vector<Operator> all = resize_operators();
  for (Operator& entry : grid_operators()) all.push_back(std::move(entry));
  for (Operator& entry : region_operators()) all.push_back(std::move(entry));
  return all;
}

}  // namespace assay

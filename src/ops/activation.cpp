// Activations: element by element, with at most a slope or bounds beside the input.
#include "ops/activation_parts.h"
#include "ops/families.h"

namespace assay {

std::vector<Operator> activation_operators() {
  std::vector<Operator> all = piecewise_operators();
  for (Operator& entry : smooth_operators()) all.push_back(std::move(entry));
  return all;
}

}  // namespace assay

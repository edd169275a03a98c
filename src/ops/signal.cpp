// Operators on signals: windows, spectra, filter banks.
#include "ops/families.h"
#include "ops/signal_parts.h"

namespace assay {

std::vector<Operator> signal_operators() {
  std::vector<Operator> all = window_operators();
  for (Operator& entry : fourier_operators()) all.push_back(std::move(entry));
  return all;
}

}  // namespace assay

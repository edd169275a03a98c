#include "compare/verdict.h"

#include <cstddef>

namespace assay {

std::string_view to_text(Verdict verdict) {
  static constexpr std::string_view kNames[] = {
      "precision", "suspicious", "tie", "difference", "optimiser", "defect", "unsupported"};
  return kNames[static_cast<std::size_t>(verdict)];
}

}  // namespace assay

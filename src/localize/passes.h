// Passes: which of a backend's passes are to blame, found by switching them off.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backends/worker.h"

namespace assay {

// What a run without some passes shows. Without a pass that it needs a backend may break.
enum class Trial : std::uint8_t { cured, still, broken };
using PassTrial = std::function<Trial(const std::vector<std::string>& disabled)>;

struct Cure {
  std::vector<std::string> passes{};
  bool any =
      true;  // each of them alone cures it; else all of them together, and none can be spared
};

// The passes that cure it alone: of those that changed the model, else of the others. Where none
// does, two may each do what the other leaves: then the smallest set that was found.
Cure find_cure(const PassList& passes, const PassTrial& trial);

}  // namespace assay

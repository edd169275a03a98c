// Verdicts: what a difference is, from what rounding does to what is wrong.
#pragma once

#include <cstdint>
#include <string_view>

namespace assay {

enum class Verdict : std::uint8_t {
  precision,    // inside the bound, as far as roundings typically reach
  suspicious,   // inside the bound, but farther than they typically reach
  tie,          // a decision (an index, a step, a condition) that rounding may turn
  difference,   // a known other reading that one can defend: a variant, or a profile
  optimiser,    // right when watched, wrong when not
  defect,       // outside the bound
  unsupported,  // no answer
};
std::string_view to_text(Verdict verdict);

}  // namespace assay

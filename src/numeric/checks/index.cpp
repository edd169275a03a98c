// A node that cannot be evaluated on what is known of its inputs: an index or a slice out of range.
#include "numeric/checks/node_checks.h"

namespace assay {

std::optional<Danger> judge_index(const Analyzed& seen) {
  if (seen.failure.empty()) return std::nullopt;
  return Danger{Interval::no_number(false), Interval::no_number(false), seen.failure, true};
}

}  // namespace assay

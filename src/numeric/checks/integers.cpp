// A sum, product or quotient of integers that their type does not hold, and that wraps around.
#include <fmt/format.h>

#include "numeric/checks/node_checks.h"

namespace assay {

std::optional<Danger> judge_integers(const Analyzed& seen) {
  if (!seen.left_type || seen.unknown || seen.outputs.empty() || operands_assumed(seen))
    return std::nullopt;
  return Danger{*seen.left_type, *seen.left_type,
                fmt::format("the result lies in {}, which {} does not hold",
                            to_text(*seen.left_type), short_name(seen.outputs[0].type.element)),
                false};
}

}  // namespace assay

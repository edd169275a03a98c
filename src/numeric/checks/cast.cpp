// A conversion to a type that does not hold the number: an integer is then whatever the machine
// makes of it, a float an infinity.
#include <algorithm>

#include <fmt/format.h>

#include "numeric/checks/node_checks.h"

namespace assay {

std::optional<Danger> judge_cast(const Analyzed& seen) {
  if (seen.unknown || seen.inputs.empty() || seen.outputs.empty() || operands_assumed(seen))
    return std::nullopt;
  const ElementType from = seen.inputs[0].type.element, to = seen.outputs[0].type.element;
  if (from == to || !(is_real(to) ? seen.overflows : seen.left_type.has_value()))
    return std::nullopt;
  const Interval range = hull_of(seen.inputs[0]);
  return Danger{range, range,
                fmt::format("a number in {} is converted to {}, which does not hold all of them",
                            to_text(range), short_name(to)),
                false};
}

}  // namespace assay

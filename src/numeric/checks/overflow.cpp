// Finite operands whose sum, product or power is too large for the format. Where nothing is known
// of an operand but its type, that says nothing, and is not reported.
#include <fmt/format.h>

#include "numeric/checks/node_checks.h"

namespace assay {

std::optional<Danger> judge_overflow(const Analyzed& seen) {
  if (!seen.overflows || seen.from_infinity || seen.unknown || seen.outputs.empty())
    return std::nullopt;
  // The tails of a distribution end nowhere, and nothing is ever drawn from where formats do.
  if (seen.node.found.entry && seen.node.found.entry->meaning.pattern == Pattern::random)
    return std::nullopt;
  if (operands_assumed(seen)) return std::nullopt;
  const ElementType type = seen.outputs[0].type.element;
  return Danger{seen.before_overflow, seen.before_overflow,
                fmt::format("finite operands may give {}, which {} does not hold",
                            to_text(seen.before_overflow), short_name(type)),
                false};
}

}  // namespace assay

// Operands that are numbers, some of them infinite, whose result is none: a softmax over a row that
// is masked throughout.
#include <fmt/format.h>

#include "numeric/checks/node_checks.h"

namespace assay {

std::optional<Danger> judge_nan(const Analyzed& seen) {
  if (!seen.overflows || !seen.from_infinity || seen.unknown) return std::nullopt;
  return Danger{seen.before_overflow, seen.before_overflow,
                fmt::format("infinite operands may give {}", to_text(seen.before_overflow)), false};
}

}  // namespace assay

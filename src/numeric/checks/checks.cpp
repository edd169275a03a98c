#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "numeric/abstract.h"
#include "numeric/checks/node_checks.h"

namespace assay {

std::span<const NumericCheck> numeric_checks() {
  static const std::array kChecks = {
      kAcosCheck,  kAcoshCheck, kAsinCheck,  kAtanhCheck, kCoshCheck, kDivideCheck, kExpCheck,
      kExpm1Check, kLogCheck,   kLog1pCheck, kPowCheck,   kSinhCheck, kSqrtCheck};
  return kChecks;
}

std::span<const NodeCheck> node_checks() {
  static constexpr std::array kChecks = {NodeCheck{"lint.index", judge_index, Remedy::index},
                                         NodeCheck{"lint.empty", judge_empty, Remedy::none},
                                         NodeCheck{"lint.cast", judge_cast, Remedy::conversion},
                                         NodeCheck{"lint.integers", judge_integers, Remedy::size},
                                         NodeCheck{"lint.overflow", judge_overflow, Remedy::size},
                                         NodeCheck{"lint.nan", judge_nan, Remedy::none}};
  return kChecks;
}

bool operands_assumed(const Analyzed& seen) {
  return std::any_of(seen.inputs.begin(), seen.inputs.end(),
                     [](const Abstract& input) { return input.assumed; });
}

std::optional<Danger> danger_if(const Interval& argument, const Interval& unsafe,
                                std::string_view what) {
  if (!argument.has_number()) return std::nullopt;
  const double low = argument.low > unsafe.low ? argument.low : unsafe.low;
  const double high = argument.high < unsafe.high ? argument.high : unsafe.high;
  // The ends of what is unsafe are still safe, unless an infinite one.
  const bool inside = low < high || (low == high && low > unsafe.low && low < unsafe.high);
  if (!inside) return std::nullopt;
  const Interval part{low, high, false};
  const bool certain = !argument.nan && argument.low > unsafe.low && argument.high < unsafe.high;
  return Danger{
      argument, part,
      fmt::format("{} lies in {}, and fails for {}", what, to_text(argument), to_text(part)),
      certain};
}

}  // namespace assay

// An index that leaves its tensor, as the operator's own preconditions say it.
#include <algorithm>

#include <fmt/format.h>

#include "numeric/checks/node_checks.h"

namespace assay {
namespace {

constexpr std::string_view kRule = ".index-range";
constexpr std::int64_t kMostColumns = 16;

// Operators look at each index of the last axis by itself, or at all of them alike.
Cuts columns_of(const Abstract& x) {
  Cuts cuts(x.rank());
  if (x.rank() == 0) return cuts;
  const Dim& last = x.type.dims->back();
  if (last.known() && last.value <= kMostColumns) cuts.back() = every_position(last.value);
  return cuts;
}

Tensor at_end(const Abstract& x, bool high) {
  const Cuts cuts = columns_of(x);
  std::vector<double> values;
  for (const Cell& cell : regrid(x, cuts))
    values.push_back(high ? cell.range.high : cell.range.low);
  return make_tensor(x.type.element, cells_of(cuts), values);
}

Site site_of(const Analyzed& seen) {
  Site site(seen.node.node, seen.node.found.schema->since_version);
  for (const Abstract& input : seen.inputs)
    site.inputs.push_back({input.is_tensor(), input.type, input.exact, {}});
  return site;
}

const Violation* broken_rule(const Check& check) {
  const auto found = std::find_if(check.violations.begin(), check.violations.end(),
                                  [](const Violation& one) { return one.rule.ends_with(kRule); });
  return found == check.violations.end() ? nullptr : &*found;
}

std::optional<Danger> leaves(const Analyzed& seen, std::size_t input) {
  const Abstract& x = seen.inputs[input];
  for (const bool high : {false, true}) {
    Site site = site_of(seen);
    site.inputs[input].constant = at_end(x, high);
    site.inputs[input].type.dims = to_dims(site.inputs[input].constant.shape());
    Check check(site, *seen.node.found.schema);
    seen.node.found.entry->require(check);
    if (const Violation* broken = broken_rule(check))
      return Danger{hull_of(x), hull_of(x),
                    fmt::format("an index lies in {}, and {} is expected", to_text(hull_of(x)),
                                broken->expected),
                    false};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Danger> judge_index(const Analyzed& seen) {
  if (!seen.failure.empty())
    return Danger{Interval::no_number(false), Interval::no_number(false), seen.failure, true};
  const Operator* entry = seen.node.found.entry;
  if (!entry || !entry->require || entry->meaning.pattern != Pattern::gather) return std::nullopt;
  for (std::size_t i = 1; i < seen.inputs.size(); ++i) {
    const Abstract& x = seen.inputs[i];
    if (!x.is_tensor() || !is_integer(x.type.element) || !x.ranked() || x.exact.defined() ||
        x.assumed || x.cells.empty() || !hull_of(x).has_number())
      continue;
    if (auto danger = leaves(seen, i)) return danger;
  }
  return std::nullopt;
}

}  // namespace assay

#include "numeric/lint.h"

#include <algorithm>

#include "base/serial.h"
#include "numeric/half.h"
#include "numeric/search.h"

namespace assay {
namespace {

// Behind a deep network everything depends on every weight, so that all names of all operations
// would outgrow the model.
constexpr std::size_t kMostCauses = 20;

// The beginning of a node's path is named, whatever its place.
void name_causes(Assessment& judgement, const Roots& roots) {
  for (std::size_t n = 0; n < judgement.nodes.size(); ++n) {
    LintNode& node = judgement.nodes[n];
    const RootSet& depends = judgement.roots[n];
    for (const int root : depends.all(node.path.empty() ? kMostCauses : SIZE_MAX)) {
      const std::string& name = roots.roots[static_cast<std::size_t>(root)].name;
      const bool begins = !node.path.empty() && node.path.front().name == name;
      if (begins || node.cause.size() < kMostCauses) node.cause.push_back(name);
    }
    node.more_causes = depends.size() - node.cause.size();
  }
}

LintResult finished(Assessment judgement, const Roots& roots) {
  name_causes(judgement, roots);
  LintResult result;
  result.nodes = std::move(judgement.nodes);
  result.unknown = std::move(judgement.unknown);
  result.ranges = std::move(judgement.ranges);
  result.unused = roots.unused;
  result.found = roots.found;
  result.checked = result.nodes.size();
  result.warnings =
      static_cast<std::size_t>(std::count_if(result.nodes.begin(), result.nodes.end(), is_unsafe));
  return result;
}

// The model as it would be in another format, without a search for values and fixes: what helps is
// to keep some operations as they are.
LintResult lint_in_format(const Model& model, const Roots& roots, const LintOptions& options) {
  const Retyped changed = retyped(model, *options.as, {});
  LintResult result = finished(judge(changed.model, roots, options.setting), roots);
  result.half = lint_as(model, roots, {*options.as, options.setting, options.seed});
  return result;
}

}  // namespace

std::string_view to_text(LintVerdict verdict) {
  switch (verdict) {
    case LintVerdict::safe:
      return "safe";
    case LintVerdict::warning:
      return "warning";
    case LintVerdict::error:
      return "error";
    case LintVerdict::unreachable:
      break;
  }
  return "unreachable";
}

Result<LintResult> lint(const Model& model, const Ranges& ranges, const LintOptions& options) {
  const SerialScope alone(true);  // bodies are watched on the thread that runs them
  const Roots roots = apply_ranges(model, ranges);
  if (options.as) return lint_in_format(model, roots, options);
  LintSearch search(model, roots, options);
  Assessment judgement = search.assess();
  search.split(judgement);
  search.find_rewrites(judgement);
  search.find_witnesses(judgement);
  search.find_ranges(judgement);
  return finished(std::move(judgement), roots);
}

}  // namespace assay

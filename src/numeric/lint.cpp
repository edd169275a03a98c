#include "numeric/lint.h"

#include <algorithm>

#include "base/parallel.h"
#include "numeric/judge.h"
#include "numeric/search.h"

namespace assay {
namespace {

// Bodies are watched on the thread that runs them.
class OneThread {
 public:
  OneThread() : before_(thread_count()) { set_thread_count(1); }
  ~OneThread() { set_thread_count(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

void name_causes(Assessment& judgement, const Roots& roots) {
  for (std::size_t n = 0; n < judgement.nodes.size(); ++n)
    for (int root : judgement.roots[n])
      judgement.nodes[n].cause.push_back(roots.roots[static_cast<std::size_t>(root)].name);
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
  const OneThread one;
  const Roots roots = apply_ranges(model, ranges);
  LintSearch search(model, roots, options);
  Assessment judgement = search.assess();
  search.split(judgement);
  search.find_rewrites(judgement);
  search.find_witnesses(judgement);
  search.find_ranges(judgement);
  name_causes(judgement, roots);
  LintResult result;
  result.nodes = std::move(judgement.nodes);
  result.unknown = std::move(judgement.unknown);
  result.unused = roots.unused;
  result.checked = result.nodes.size();
  result.warnings =
      static_cast<std::size_t>(std::count_if(result.nodes.begin(), result.nodes.end(), is_unsafe));
  return result;
}

}  // namespace assay

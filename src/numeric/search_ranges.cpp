// The widest range of one root, to 1 %, for which an operation is proved safe.
#include <algorithm>
#include <cmath>

#include "numeric/search.h"

namespace assay {
namespace {

// Roots that are tried for one operation: where a rewrite makes it safe, fewer.
constexpr std::size_t kMostRoots = 6, kFewRoots = 3;

// Half way, on a scale of sizes where the ends are of different ones.
double between(double a, double b) {
  if (a > 0 && b > 0 && std::max(a / b, b / a) > 16) return std::sqrt(a) * std::sqrt(b);
  if (a < 0 && b < 0 && std::max(a / b, b / a) > 16) return -std::sqrt(-a) * std::sqrt(-b);
  return a / 2 + b / 2;
}

bool close(double a, double b) {
  return std::fabs(a - b) <= 0.01 * std::max(std::fabs(a), std::fabs(b)) || std::fabs(a - b) < 1e-9;
}

}  // namespace

// From a safe end outwards, by halves, as far as it stays safe.
double LintSearch::stretched(double end, double limit, const std::function<bool(double)>& safe) {
  if (safe(limit)) return limit;
  double bad = limit;
  while (!close(end, bad) && has_time()) {
    const double middle = between(end, bad);
    (safe(middle) ? end : bad) = middle;
  }
  return end;
}

// From a point at which the operation is safe, first to both sides alike, and then each side alone;
// and once more one side after the other, which is wider where the danger is on one side.
std::optional<Interval> LintSearch::safe_range(const LintNode& node, std::size_t root) {
  const Interval range = roots_->roots[root].range;
  const auto safe = [&](double low, double high) {
    return has_time() && assessor_.proves(node.name, narrowed(root, {low, high, false}));
  };
  const auto around = [&](double point, double reach) {
    return Interval{std::max(range.low, point - reach), std::min(range.high, point + reach), false};
  };
  std::optional<Interval> best;
  for (double anchor : {std::clamp(0.0, range.low, range.high), range.high, range.low,
                        std::clamp(1.0, range.low, range.high)}) {
    if (!safe(anchor, anchor)) continue;
    const double most = std::max(range.high - anchor, anchor - range.low);
    const double reach = stretched(0, std::min(most, range.high), [&](double r) {
      const Interval both = around(anchor, r);
      return safe(both.low, both.high);
    });
    for (const Interval& begin : {around(anchor, reach), Interval{anchor, anchor, false}}) {
      const double low =
          stretched(begin.low, range.low, [&](double end) { return safe(end, begin.high); });
      const double high =
          stretched(begin.high, range.high, [&](double end) { return safe(low, end); });
      if (!best || high - low > best->high - best->low) best = Interval{low, high, false};
    }
  }
  return best;
}

void LintSearch::find_ranges(Assessment& judgement) {
  for (std::size_t n = 0; n < judgement.nodes.size(); ++n) {
    LintNode& node = judgement.nodes[n];
    if (!is_unsafe(node)) continue;
    std::optional<Interval> widest;
    std::size_t of = 0, tried = 0;
    for (int root : judgement.roots[n].all()) {
      const auto place = static_cast<std::size_t>(root);
      if (!roots_->values.at(roots_->roots[place].name).real()) continue;
      if (++tried > (node.fix ? kFewRoots : kMostRoots) || !has_time()) break;
      const std::optional<Interval> found = safe_range(node, place);
      if (!found || (widest && found->high - found->low <= widest->high - widest->low)) continue;
      widest = found;
      of = place;
    }
    if (!widest) continue;
    if (!node.fix) node.fix = LintFix{};
    node.fix->root = roots_->roots[of].name;
    node.fix->range = *widest;
  }
}

}  // namespace assay

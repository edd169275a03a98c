#include "scalar/watch.h"

namespace assay {
namespace {

thread_local Watch* current_watch = nullptr;
thread_local const Counts* current_counts = nullptr;

}  // namespace

Watch* watch() { return current_watch; }
const Counts* counts() { return current_counts; }

const Counts* counts_of(std::size_t terms) {
  const Counts* set = counts();
  return set && set->of.size() == terms ? set : nullptr;
}

Interval repeated(const Interval& term, const std::pair<double, double>& count) {
  const double low = (term.low < 0 ? count.second : count.first) * term.low;
  const double high = (term.high > 0 ? count.second : count.first) * term.high;
  return {low, high, term.nan};
}

std::optional<Counts> counts_of_sums(std::int64_t terms, std::int64_t times, std::int64_t more) {
  const Counts* set = counts_of(static_cast<std::size_t>(terms));
  if (!set) return std::nullopt;
  Counts sums;
  sums.of.reserve(static_cast<std::size_t>(terms * times + more));
  for (const auto& count : set->of)
    sums.of.insert(sums.of.end(), static_cast<std::size_t>(times), count);
  sums.of.insert(sums.of.end(), static_cast<std::size_t>(more), {1, 1});
  sums.most = set->most * static_cast<double>(times) + static_cast<double>(more);
  return sums;
}

WatchScope::WatchScope(Watch* watch) : before_(std::exchange(current_watch, watch)) {}
WatchScope::~WatchScope() { current_watch = before_; }

CountsScope::CountsScope(const Counts& counts) : before_(std::exchange(current_counts, &counts)) {}
CountsScope::~CountsScope() { current_counts = before_; }

}  // namespace assay

#include "scalar/tier.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "base/parallel.h"

namespace assay {
namespace {

// What the threads of one thread's loops share with it.
struct Notes {
  Tier tier{};
  std::atomic<std::size_t> longest_sum = 0;
  std::atomic<bool> open_decision = false;
};

thread_local Notes own;
thread_local Notes* notes = nullptr;  // null: one's own

Notes& current() { return notes ? *notes : own; }

[[maybe_unused]] const bool kHandedOn = [] {
  on_parallel([] { return [of_caller = &current()] { notes = of_caller; }; });
  return true;
}();

// Of n independent roundings, 2·√n in one direction are more than three deviations (Higham and
// Mary, A New Approach to Probabilistic Rounding Error Analysis, 2019).
constexpr double kDeviations = 2;

}  // namespace

Tier tier() { return current().tier; }

TierScope::TierScope(Tier tier) : before_(std::exchange(current().tier, tier)) {}

TierScope::~TierScope() { current().tier = before_; }

Basis take_basis() {
  return {current().longest_sum.exchange(0, std::memory_order_relaxed),
          current().open_decision.exchange(false, std::memory_order_relaxed)};
}

// Threads may overtake each other; the next sum of that length makes up for it.
void note_sum(std::size_t terms) {
  std::atomic<std::size_t>& longest = current().longest_sum;
  if (terms > longest.load(std::memory_order_relaxed)) {
    longest.store(terms, std::memory_order_relaxed);
  }
}

void note_open_decision() {
  std::atomic<bool>& open = current().open_decision;
  if (!open.load(std::memory_order_relaxed)) open.store(true, std::memory_order_relaxed);
}

double roundings_of(std::size_t n, Tier tier) {
  const auto all = static_cast<double>(n);
  return tier.typical ? std::min(all, kDeviations * std::sqrt(all)) : all;
}

}  // namespace assay

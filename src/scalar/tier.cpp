#include "scalar/tier.h"

#include <algorithm>
#include <atomic>
#include <cmath>

namespace assay {
namespace {

std::atomic<bool> typical = false, decided = false;
std::atomic<std::size_t> longest_sum = 0;
std::atomic<bool> open_decision = false;

// Of n independent roundings, 2·√n in one direction are more than three deviations (Higham and
// Mary, A New Approach to Probabilistic Rounding Error Analysis, 2019).
constexpr double kDeviations = 2;

void set(Tier tier) {
  typical.store(tier.typical, std::memory_order_relaxed);
  decided.store(tier.decided, std::memory_order_relaxed);
}

}  // namespace

Tier tier() {
  return {typical.load(std::memory_order_relaxed), decided.load(std::memory_order_relaxed)};
}

TierScope::TierScope(Tier tier) : before_(assay::tier()) { set(tier); }

TierScope::~TierScope() { set(before_); }

Basis take_basis() {
  return {longest_sum.exchange(0, std::memory_order_relaxed),
          open_decision.exchange(false, std::memory_order_relaxed)};
}

// Threads may overtake each other; the next sum of that length makes up for it.
void note_sum(std::size_t terms) {
  if (terms > longest_sum.load(std::memory_order_relaxed)) {
    longest_sum.store(terms, std::memory_order_relaxed);
  }
}

void note_open_decision() {
  if (!open_decision.load(std::memory_order_relaxed)) {
    open_decision.store(true, std::memory_order_relaxed);
  }
}

double roundings_of(std::size_t n, Tier tier) {
  const auto all = static_cast<double>(n);
  return tier.typical ? std::min(all, kDeviations * std::sqrt(all)) : all;
}

}  // namespace assay

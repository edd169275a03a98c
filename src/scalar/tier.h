// How much of what an honest evaluation may do the bounds cover, and what made them wide.
#pragma once

#include <cstddef>

namespace assay {

// The worst case of every sum and either way of every decision, unless said otherwise.
struct Tier {
  bool typical = false;  // the roundings of n terms cancel out, up to 2·√n of them
  bool decided = false;  // a comparison, a step or an index falls as the value says
};
Tier tier();

// Sets the tier of this thread, and in its loops, for as long as it lives. Not while a node is
// being evaluated.
class TierScope {
 public:
  explicit TierScope(Tier tier);
  ~TierScope();
  TierScope(const TierScope&) = delete;
  TierScope& operator=(const TierScope&) = delete;

 private:
  Tier before_;
};

// What the bounds rest on that this thread and its loops computed since it was asked last.
struct Basis {
  std::size_t longest_sum = 0;  // terms
  bool open_decision = false;   // one that covers results which rounding alone keeps apart
};
Basis take_basis();
void note_sum(std::size_t terms);
void note_open_decision();

// How many roundings of a sum of n terms do not cancel out.
double roundings_of(std::size_t n, Tier tier);

}  // namespace assay

// What binary operators share: numpy broadcasting, and the older rule of versions below 7, where
// the second input had to have the first one's shape unless `broadcast` aligned it at `axis`.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "ops/operator.h"

namespace assay {

void require_broadcast(Check& c);  // both rules, by version
void infer_broadcast(Infer& n);    // type of the first input
void infer_comparison(Infer& n);   // bool
Meaning aligned(Meaning meaning);  // places the second input as the older rule says
inline const std::vector<AttributeRole> kBroadcastRoles = {
    {"axis", Role::axis}, {"broadcast", Role::flag}, {"consumed_inputs", Role::number}};

// Any number of inputs: those of versions below 8 must have one shape.
void require_all_broadcast(Check& c);

// Steps through an output and the inputs that broadcast to it, for bodies on the storage itself.
class BroadcastWalk {
 public:
  BroadcastWalk(const Shape& output, std::initializer_list<const Shape*> inputs);

  // Calls run(position, count, offsets, steps) for pieces of the output elements [begin, end):
  // element position + i reads input k at offsets[k] + i * steps[k].
  template <class Run>
  void operator()(std::int64_t begin, std::int64_t end, const Run& run) const;

 private:
  Shape extents_;                                   // neighbouring axes are joined where all agree
  std::vector<std::vector<std::int64_t>> strides_;  // of each input
};

template <class Run>
void BroadcastWalk::operator()(std::int64_t begin, std::int64_t end, const Run& run) const {
  const std::size_t last = extents_.size() - 1;
  std::vector<std::int64_t> offsets(strides_.size()), steps(strides_.size());
  for (std::int64_t at = begin; at < end;) {
    std::int64_t rest = at;
    std::fill(offsets.begin(), offsets.end(), 0);
    for (std::size_t d = last + 1; d-- > 0; rest /= extents_[d])
      for (std::size_t k = 0; k < offsets.size(); ++k)
        offsets[k] += rest % extents_[d] * strides_[k][d];
    for (std::size_t k = 0; k < steps.size(); ++k) steps[k] = strides_[k][last];
    const std::int64_t count = std::min(end - at, extents_[last] - at % extents_[last]);
    run(at, count, offsets.data(), steps.data());
    at += count;
  }
}

}  // namespace assay

// Which weight of one file is which of another, whatever exporters did to names, axes and types.
#pragma once

#include <string>
#include <vector>

#include "compare/arrangement.h"
#include "compare/trace.h"

namespace assay {

enum class WeightRelation : std::uint8_t {
  same,        // the same elements in the same order
  permuted,    // with axes permuted or of another shape
  rearranged,  // the same elements in some other order: gates of a recurrent layer, blocks
  joined,      // several in one file are one in the other
  folded,      // what one file computes from weights alone is a weight in the other
  rounded,     // the same after rounding to the narrower type
  differing
};
std::string_view to_text(WeightRelation relation);

struct WeightPair {
  std::vector<std::size_t> a, b;  // one each, but for joined and folded ones
  WeightRelation relation = WeightRelation::same;
  Arrangement arrangement{};  // of A's elements in B
  ElementType rounded_to = ElementType::undefined;
  double difference = 0;  // the largest of an element
  bool used = true;       // both sides are read in this run
  bool equal() const { return relation < WeightRelation::rounded; }
};

struct WeightMatch {
  std::vector<WeightPair> pairs;
  std::vector<std::size_t> only_a, only_b;  // that are used, and in no pair

  std::size_t count(bool equal, bool used = true) const;
  // The share of the elements of used weights that are in a pair, in the file where it is smaller.
  double coverage = 1;
};

// Whether the tensor tells by its elements that it is one weight and no other: extents, axes and
// factors do not.
bool is_telling(const Tensor& tensor);

WeightMatch match_weights(const Trace& a, const Trace& b);

}  // namespace assay

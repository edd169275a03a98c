// The axes of aligned tensors (ops/alignment.h), and how many elements each cell of them stands
// for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "ops/alignment.h"
#include "scalar/watch.h"

namespace assay {

// What is known of the axes that go by one letter.
struct AlignedAxis {
  std::int64_t extent = 1;
  bool open = false;
  std::int64_t times = 1;  // of an open extent
  std::vector<std::int64_t> cuts;
  bool row = false, window = false;
  std::int64_t compact = 1;  // extent in the compact tensors
  bool padded = false;       // of an open window axis: zeros may lie around the elements
  bool one_group = false;    // `extent` is that of one group, which stands for all

  std::int64_t cells() const { return static_cast<std::int64_t>(cuts.size()) + 1; }
  std::int64_t length_of(std::int64_t cell) const;
};
using AlignedAxes = std::map<int, AlignedAxis>;  // by letter

// Of a row whose axes have these letters; nothing where every cell is one element. Only one axis
// keeps its cuts, so that the order of axes in a row does not matter.
std::optional<Counts> counts_of_row(const Letters& letters, AlignedAxes& axes);
// Of a contraction's terms.
std::optional<Counts> counts_of_terms(const AlignedAxis& axis);

}  // namespace assay

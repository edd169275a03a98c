// Move and Gather: output elements are copies of input elements (or one fill value), so one driver
// serves every element type and every reading.
#pragma once

#include <functional>
#include <vector>

#include "patterns/call.h"

namespace assay {

// A box of elements copied with strides: element (i0, i1, …) of the box goes from
// from + Σ i·from_stride of input `input` to to + Σ i·to_stride of the output. Strides may be zero
// (repetition) or negative (reversal).
struct Region {
  std::size_t input = 0;
  Shape extents;
  std::int64_t from = 0, to = 0;
  Shape from_strides, to_strides;
};

// How one output is put together. What no region or source covers is `fill`: an input's single
// element, or zero (an empty string) without one.
struct Movement {
  std::vector<Region> regions;
  std::optional<std::size_t> fill;  // the input whose first element fills
  bool complete = false;            // the regions cover every element: nothing is filled first
};

// The elements of a whole input as they stand: reshapes share their data.
Movement whole(std::size_t input);

// One movement for each output. Data that decides the movement is read with call.exact(i).
Meaning move(std::vector<Movement> (*body)(const Call&));

// For each output element its source: an index into the concatenation of the elements of all
// `inputs`, or -1 for the fill. With `block`, an index stands for so many elements in a row, and
// says where the first of them is.
struct Sources {
  std::vector<std::size_t> inputs;
  std::vector<std::int64_t> indices;
  std::optional<std::size_t> fill;
  std::int64_t block = 1;
};
Meaning gather(Sources (*body)(const Call&));
// The same, for meanings that do more.
Value gathered(const Call& call, const Sources& sources, ElementType type, const Shape& shape);
Value moved(const Call& call, const Movement& movement, ElementType type, const Shape& shape);

// `base` as it stands, with block i of `updates` over the elements from targets[i] on; where
// targets meet, the last one holds.
struct Placement {
  std::size_t base = 0, updates = 0;
  std::vector<std::int64_t> targets;
  std::int64_t block = 1;
};
Value placed(const Call& call, const Placement& placement);

}  // namespace assay

// Segments: the smallest part of a model that an optimiser gets wrong when nobody watches inside.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "graph/slice.h"

namespace assay {

struct Segment {
  std::vector<std::size_t> nodes;  // positions in the main graph, in order
  Model model;
};

// Whether a backend gets a part of the model wrong, on the values that its inputs have in `values`.
using SegmentTrial = std::function<bool(const Model& part)>;

// First the shortest stretch in the order of execution, by bisection of its end and of its
// beginning, then without every node of it that can be spared. None if the whole is not wrong when
// it is cut out.
std::optional<Segment> find_segment(const Model& model, const ValuesByName& values,
                                    const SegmentTrial& wrong);

}  // namespace assay

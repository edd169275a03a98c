// Boxes: a movement of elements (patterns/move.h) as a relabelling of the cells of grids.
#pragma once

#include <optional>
#include <vector>

#include "numeric/abstract.h"
#include "numeric/forms.h"
#include "patterns/move.h"

namespace assay {

// A tensor that elements come from, with an extent for each axis, also for the open ones.
struct MoveSource {
  const Abstract* value = nullptr;
  Shape shape;
};

struct MoveTarget {
  ValueType type;
  Shape shape;
};

// What the movement makes of the sources, by input. Cells that come from one place keep their
// forms.
Abstract relabel(const Movement& movement, const std::vector<MoveSource>& sources,
                 const std::optional<Interval>& fill, const MoveTarget& target, TensorMode mode,
                 FormReader& forms);

}  // namespace assay

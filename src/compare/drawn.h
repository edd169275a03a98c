// Drawn: results that are a matter of chance. Nobody's can be held against another's, but all
// honest draws have in common what they add up to, and what they can be.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "compare/agreement.h"
#include "semantics/evaluator.h"

namespace assay {

// Whether the node may give something else than it does, beyond rounding: one in training may, one
// that is not does not.
bool is_drawn(const PlannedNode& node, std::span<const Value> inputs);

// Outputs drawn with a seed, or in the reading of intervals all that may be drawn.
using Draw = std::function<Result<std::vector<Value>>(Reading reading, std::uint64_t seed)>;
Draw draw_of(const PlannedNode& node, std::span<const Value> inputs);

// How probable it is, for each figure that is looked at, that an honest draw is called none. It
// rests on sums of many draws being nearly normal.
inline constexpr double kWrongAlarm = 1e-9;

// Whether `found` may come of the same chances as what is drawn: nothing outside of what can be
// drawn, and sums, squares, zeros, neighbours, and products with the inputs and with each other as
// in 64 draws. Outputs that are absent in `found` are not judged.
Agreement judge_draw(const Draw& draw, std::span<const Value> inputs, std::span<const Value> found);

}  // namespace assay

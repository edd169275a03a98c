// Where the exact functions of real numbers take an interval (inside scalar/ only).
//
// The ends cover the errors of the double library, and nothing of the format: Bounded and Interval
// both start from here. `nan` is set where the operand may be NaN or outside of the domain.
#pragma once

#include <optional>

#include "scalar/interval.h"

namespace assay::enclosure {

// A function of one argument: its double version, its exact image, and the numbers that its
// results are among however it is evaluated (no honest sine exceeds 1).
double value_of(Operation function, double x);
Interval image(Operation function, const Interval& x);
// The image of one x other than 0, where value_of gave y: nothing is computed twice. None where
// it takes more than y.
std::optional<Interval> image_of_point(Operation function, double x, double y);
Interval range_of(Operation function);

Interval pow(const Interval& a, const Interval& b);
Interval atan2(const Interval& y, const Interval& x);
Interval fmod(const Interval& a, const Interval& b);
Interval floor_mod(const Interval& a, const Interval& b);

// Ends for a result of the double library.
double below(double y);
double above(double y);

}  // namespace assay::enclosure

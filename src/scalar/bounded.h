// A value with everything that an honest evaluation in the current format may give instead.
#pragma once

#include <limits>

#include "scalar/rounding.h"

namespace assay {

// The evaluations lie in [value − error, value + error]; `value` is what double arithmetic gives.
//   error 0         exactly this, which may be an infinity or NaN. The sign of an exact zero
//                   counts when it divides; a zero of unsure sign has the smallest error above 0.
//   error infinity  anything, NaN included: a result that the format may not hold is anything,
//                   since it overflows in a narrow evaluation and survives in a wider one.
// A NaN or infinite value has no other error than these two.
struct Bounded {
  double value = 0;
  double error = 0;

  static constexpr Bounded anything(double value) {
    return {value, std::numeric_limits<double>::infinity()};
  }

  constexpr bool is_exact() const { return error == 0; }
  constexpr bool is_anything() const { return error == std::numeric_limits<double>::infinity(); }

  // The ends of what is covered, outward; both NaN for an exact NaN.
  double low() const;
  double high() const;

  // Whether an evaluation may have given x; zeros of both signs are equal.
  bool contains(double x) const;
};

Bounded operator+(Bounded a, Bounded b);
Bounded operator-(Bounded a, Bounded b);
Bounded operator*(Bounded a, Bounded b);
Bounded operator/(Bounded a, Bounded b);
constexpr Bounded operator-(Bounded a) { return {-a.value, a.error}; }

// The value of a, and all that a or b cover.
Bounded hull(Bounded a, Bounded b);

// The bounded number for a finite value whose error is known, as the format may leave it: what is
// too large for the format becomes anything, what it may flush covers 0.
Bounded settle(double value, double error);

// A constant as the format holds it; `x` may itself be off by `error`.
Bounded rounded(double x, double error = 0);

// An operand as an operation sees it: a subnormal may count as 0.
Bounded flushed(Bounded x);

}  // namespace assay

// Every result that an evaluation in the current format can give, for all operands in intervals.
#pragma once

#include <limits>

#include "scalar/bounded.h"
#include "scalar/rounding.h"

namespace assay {

// The numbers from low to high, and NaN if `nan`. An infinite end is attainable: [0, infinity]
// says that the result may be infinite. No number at all is low > high, always written +infinity
// and −infinity. A zero stands for both signs, so a divisor that may be 0 gives both infinities.
// A result too large for the format reaches from where it starts to infinity.
struct Interval {
  double low = 0;
  double high = 0;
  bool nan = false;

  static constexpr Interval everything() { return {-kEnd, kEnd, true}; }
  static constexpr Interval no_number(bool nan = true) { return {kEnd, -kEnd, nan}; }
  static constexpr Interval point(double x) { return x == x ? Interval{x, x, false} : no_number(); }

  constexpr bool has_number() const { return low <= high; }
  constexpr bool contains(double x) const { return x == x ? low <= x && x <= high : nan; }
  constexpr bool contains(const Interval& x) const {
    return (!x.has_number() || (low <= x.low && x.high <= high)) && (nan || !x.nan);
  }
  bool contains(const Bounded& x) const;

 private:
  static constexpr double kEnd = std::numeric_limits<double>::infinity();
};

Interval operator+(const Interval& a, const Interval& b);
Interval operator-(const Interval& a, const Interval& b);
Interval operator*(const Interval& a, const Interval& b);
Interval operator/(const Interval& a, const Interval& b);
constexpr Interval operator-(const Interval& a) { return {-a.high, -a.low, a.nan}; }

Interval hull(const Interval& a, const Interval& b);
Interval meet(const Interval& a, const Interval& b);

// All that a bounded number covers.
Interval enclose(const Bounded& x);

// A constant as the format holds it.
Interval enclose_constant(double x);

// An operand as an operation sees it: a subnormal may count as 0.
Interval flushed(const Interval& x);

// The end of a result: its value in double, and whether that is attained as it is (it is then the
// format's own number, or an infinity that did not come from overflow).
struct End {
  double value;
  bool exact;
};

// Where evaluations of `function` can reach when the exact result ends there.
double lower_end(Operation function, const End& end);
double upper_end(Operation function, const End& end);

}  // namespace assay

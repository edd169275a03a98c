// What the bounds of sequences share (inside scalar/ only).
#pragma once

#include <cstddef>

#include "scalar/bounded.h"
#include "scalar/interval.h"
#include "scalar/rounding.h"

namespace assay {

// Watches terms for sums that are exact in the current format in every order: all terms are
// multiples of a power of two, and their magnitudes add up to less than the format counts in it.
class Quanta {
 public:
  void add(double term);  // finite
  bool keep_sums_exact() const;

 private:
  int lowest_ = 2048;  // the exponent of the lowest bit set in any term
  double magnitude_ = 0;
};

// The part of x that is an odd integer times a power of two, its magnitude; 0 for 0.
double odd_part(double x);

// How far our own sum of n terms in double may be off, relative to the sum of magnitudes.
double own_accumulation(std::size_t n);

// Makes up for the rounding of a plain sum or product of n numbers that are not negative.
double up_for(std::size_t n);

// The absolute error of n partial sums or products that may underflow, or be flushed.
double underflow(std::size_t n);

// What is left when the result of a wider evaluation is rounded to the format.
Bounded narrowed(const Bounded& x);
Interval narrowed(const Interval& x);

// Runs a reduction in the format of the partial sums, and rounds what it gives to the format.
template <class Reduce>
auto in_partial_sums(const Reduce& reduce) {
  if (!rounding().accumulates_wider()) return reduce();
  const Rounding wide = rounding().of_partial_sums();
  const auto result = [&] {
    const RoundingScope scope(wide);
    return reduce();
  }();
  return narrowed(result);
}

// The error of a shifted log-sum-exp of n terms with a maximum of this size, in the format.
double log_sum_exp_error(const Rounding& format, std::size_t n, double top);

}  // namespace assay

// Reductions over any number of scalars, whose bounds hold for every order of evaluation.
//
// Of nothing: sum 0, product 1, maximum −infinity, minimum +infinity, mean and variance NaN,
// log_sum_exp −infinity; for integers the smallest, the largest, and a mean of 0.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "scalar/vocabulary.h"

namespace assay {

// The sum of term(i) for `count` indices from `begin`, by halves: deterministic, and in double
// within min(count, 96) units of roundoff of the sum of magnitudes.
template <class Term>
double pairwise_sum(std::size_t begin, std::size_t count, const Term& term) {
  constexpr std::size_t kLanes = 8;
  constexpr std::size_t kBlock = 32 * kLanes;
  if (count > kBlock) {
    const std::size_t half = (count / 2 + kLanes - 1) / kLanes * kLanes;
    return pairwise_sum(begin, half, term) + pairwise_sum(begin + half, count - half, term);
  }
  double lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += term(begin + i + lane);
  }
  double rest = 0;
  for (; i < count; ++i) rest += term(begin + i);
  return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) +
         ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7])) + rest;
}

inline double sum(std::span<const double> x) {
  return pairwise_sum(0, x.size(), [&](std::size_t i) { return x[i]; });
}

inline double dot(std::span<const double> a, std::span<const double> b) {
  return pairwise_sum(0, a.size(), [&](std::size_t i) { return a[i] * b[i]; });
}

inline double sum_of_squares(std::span<const double> x) { return dot(x, x); }

inline double sum_of_absolutes(std::span<const double> x) {
  return pairwise_sum(0, x.size(), [&](std::size_t i) { return std::fabs(x[i]); });
}

inline double mean(std::span<const double> x) { return sum(x) / static_cast<double>(x.size()); }

// The mean square of the distances from the mean (divided by n, not n − 1). Its bounds cover
// evaluation in two passes and Welford's update, not the mean of squares minus the squared mean.
inline double variance(std::span<const double> x) {
  const double center = mean(x);
  const auto squared = [&](std::size_t i) { return square(x[i] - center); };
  return pairwise_sum(0, x.size(), squared) / static_cast<double>(x.size());
}

inline double product(std::span<const double> x) {
  double result = 1;
  for (double v : x) result *= v;
  return result;
}

inline double maximum(std::span<const double> x) {
  double result = -std::numeric_limits<double>::infinity();
  bool nan = false;  // apart, so that the next step waits for one instruction only
  for (double v : x) {
    result = result > v ? result : v;
    nan = nan | (v != v);
  }
  return nan ? std::numeric_limits<double>::quiet_NaN() : result;
}

inline double minimum(std::span<const double> x) {
  double result = std::numeric_limits<double>::infinity();
  bool nan = false;
  for (double v : x) {
    result = result < v ? result : v;
    nan = nan | (v != v);
  }
  return nan ? std::numeric_limits<double>::quiet_NaN() : result;
}

// log Σ exp(x), shifted by the maximum so that nothing overflows.
double log_sum_exp(std::span<const double> x);

#define ASSAY_REDUCTION(name)               \
  Bounded name(std::span<const Bounded> x); \
  Interval name(std::span<const Interval> x)

ASSAY_REDUCTION(sum);
ASSAY_REDUCTION(sum_of_squares);
ASSAY_REDUCTION(sum_of_absolutes);
ASSAY_REDUCTION(mean);
ASSAY_REDUCTION(variance);
ASSAY_REDUCTION(product);
ASSAY_REDUCTION(maximum);
ASSAY_REDUCTION(minimum);
ASSAY_REDUCTION(log_sum_exp);

#undef ASSAY_REDUCTION

Bounded dot(std::span<const Bounded> a, std::span<const Bounded> b);
Interval dot(std::span<const Interval> a, std::span<const Interval> b);

std::int64_t sum(std::span<const std::int64_t> x);
std::uint64_t sum(std::span<const std::uint64_t> x);
std::int64_t dot(std::span<const std::int64_t> a, std::span<const std::int64_t> b);
std::uint64_t dot(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b);
std::int64_t sum_of_squares(std::span<const std::int64_t> x);
std::uint64_t sum_of_squares(std::span<const std::uint64_t> x);
std::int64_t sum_of_absolutes(std::span<const std::int64_t> x);
std::uint64_t sum_of_absolutes(std::span<const std::uint64_t> x);
std::int64_t product(std::span<const std::int64_t> x);
std::uint64_t product(std::span<const std::uint64_t> x);
// Cut toward zero.
std::int64_t mean(std::span<const std::int64_t> x);
std::uint64_t mean(std::span<const std::uint64_t> x);
std::int64_t maximum(std::span<const std::int64_t> x);
std::uint64_t maximum(std::span<const std::uint64_t> x);
bool maximum(std::span<const bool> x);
std::int64_t minimum(std::span<const std::int64_t> x);
std::uint64_t minimum(std::span<const std::uint64_t> x);
bool minimum(std::span<const bool> x);

}  // namespace assay

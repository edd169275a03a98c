// The whole numbers that a position may be rounded to, where it is known only roughly.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "scalar/scalar.h"

namespace assay {

struct Candidates {
  std::int64_t first = 0, last = 0;
  bool sure = true;  // false: it may be anything, or no number

  double count() const { return static_cast<double>(last - first) + 1; }
};

namespace candidates_detail {
inline Candidates between(double low, double high, bool sure, double (*round)(double)) {
  constexpr double kFar = 0x1p60;
  if (!sure || std::isnan(low) || std::isnan(high)) return {0, 0, false};
  const auto whole = [&](double x) {
    return static_cast<std::int64_t>(std::clamp(round(x), -kFar, kFar));
  };
  return {whole(low), whole(high), true};
}
}  // namespace candidates_detail

// `round` does not decrease. What is far away is kept at 2^60.
inline Candidates candidates(double x, double (*round)(double)) {
  return candidates_detail::between(x, x, true, round);
}
inline Candidates candidates(const Bounded& x, double (*round)(double)) {
  return candidates_detail::between(x.low(), x.high(), !x.is_anything(), round);
}
inline Candidates candidates(const Interval& x, double (*round)(double)) {
  return candidates_detail::between(x.low, x.high, !x.nan && x.has_number(), round);
}

}  // namespace assay

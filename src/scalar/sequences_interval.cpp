// Reductions of intervals, for every order of evaluation.
//
// The error of a sum is applied to each end of each term: x + γ|x| grows with x, so the largest sum
// is the sum of the largest terms. (With γ · max|x| a softmax becomes [−infinity, infinity].)
#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "scalar/accumulation.h"
#include "scalar/outward.h"
#include "scalar/sequences.h"
#include "scalar/watch.h"

namespace assay {
namespace {

using Terms = std::vector<Interval>;

constexpr bool may_be_zero(const Interval& x) { return x.low <= 0 && 0 <= x.high; }

double size_of(const Interval& x) { return std::max(-x.low, x.high); }

double least_size_of(const Interval& x) {
  return may_be_zero(x) ? 0 : std::min(std::fabs(x.low), std::fabs(x.high));
}

Terms negated(Terms terms) {
  for (Interval& term : terms) term = -term;
  return terms;
}

// Terms as a reduction sees them; `found` says whether all have a number, and if any may be NaN.
Terms gathered(std::span<const Interval> x, Interval& found) {
  Terms terms(x.size());
  std::ranges::transform(x, terms.begin(), [](const Interval& v) { return flushed(v); });
  const bool nan = std::ranges::any_of(x, &Interval::nan);
  const bool numbers = std::ranges::all_of(x, &Interval::has_number);
  found = numbers ? Interval{0, 0, nan} : Interval::no_number(nan);
  return terms;
}

// The most that x + growth·|x| can be; it does not grow with x only for a growth of more than 1.
double widened(const Interval& x, double growth) {
  const double low = std::max(x.low, -kLargestDouble);
  return std::max(x.high + growth * std::fabs(x.high), low + growth * std::fabs(low));
}

Interval covering(const Terms& terms) {
  Interval all = Interval::no_number(false);
  for (const Interval& term : terms) all = hull(all, term);
  return all;
}

struct UpperEnd {
  double value;
  bool overflows;  // some partial sum of finite terms may be +infinity
};

// The upper end of a sum; the lower one is that of the negated terms.
UpperEnd upper_sum(const Terms& terms, std::size_t count, double growth, bool may_be_exact) {
  double total = 0;
  double positive = 0;
  double size = 0;
  Quanta quanta;
  double plain = 0;
  for (const Interval& term : terms) {
    if (std::isinf(term.high)) continue;
    const double most = widened(term, growth);
    total += most;
    if (term.high > 0) positive += most;
    size += std::fabs(most);
    plain += term.high;
    quanta.add(term.high);
  }
  const bool exact = may_be_exact && quanta.keep_sums_exact();
  const double off = (up_for(count) - 1) * size + underflow(count);
  const bool overflows = positive > 0 && !exact && !(positive + off <= rounding().largest);
  if (std::ranges::any_of(terms, [](auto& t) { return t.high == -kInfinity; })) {
    return {-kInfinity, overflows};
  }
  const bool infinite = std::ranges::any_of(terms, [](auto& t) { return t.high == kInfinity; });
  if (infinite || overflows) return {kInfinity, overflows};
  if (exact) return {plain, false};
  // Sums of numbers that are not positive are not, also where double overflows.
  const double most = std::isfinite(size) ? total + off : kInfinity;
  return {positive > 0 ? most : std::min(most, 0.0), false};
}

// Whether infinities of both signs may meet: they come from two terms, or from overflow.
bool infinities_meet(const Terms& terms, bool overflows, bool underflows) {
  std::size_t plus = overflows ? 1 : 0;
  std::size_t minus = underflows ? 1 : 0;
  std::size_t either = 0;
  for (const Interval& term : terms) {
    plus += term.high == kInfinity ? 1 : 0;
    minus += term.low == -kInfinity ? 1 : 0;
    either += term.high == kInfinity && term.low == -kInfinity ? 1 : 0;
  }
  return plus > 0 && minus > 0 && !(plus == 1 && minus == 1 && either == 1);
}

// A sum whose terms have an error of `extra`, relative, on top of their own.
Interval total(std::span<const Interval> x, double extra = 0) {
  Interval result;
  Terms terms = gathered(x, result);
  if (!result.has_number()) return result;
  const Counts* counted = counts_of(x.size());
  if (terms.size() == 1 && extra == 0 && !counted) return terms[0];
  for (std::size_t i = 0; counted && i < terms.size(); ++i)
    terms[i] = repeated(terms[i], counted->of[i]);
  std::erase_if(terms, [](const Interval& t) { return t.low == 0 && t.high == 0; });
  if (terms.empty()) return result;
  const std::size_t count = counted ? static_cast<std::size_t>(counted->most) : terms.size();
  const double growth = rounding().accumulation(count) + extra;
  if (!std::isfinite(growth)) return Interval::everything();
  const bool may_be_exact = extra == 0 && !counted;
  const UpperEnd upper = upper_sum(terms, count, growth, may_be_exact);
  const UpperEnd lower = upper_sum(negated(terms), count, growth, may_be_exact);
  result.nan |= infinities_meet(terms, upper.overflows, lower.overflows) ||
                (counted && std::ranges::any_of(terms, [](const Interval& t) {
                   return t.low == -kInfinity && t.high == kInfinity;
                 }));
  if (-lower.value > upper.value) return Interval::no_number(result.nan);
  return flushed({-lower.value, upper.value, result.nan});
}

// Of rows whose elements stand for several: all that is known is that every element lies in the
// hull of all.
Interval counted_variance(const Terms& terms, const Counts& counted, bool nan) {
  const Interval all = covering(terms);
  const Rounding& format = rounding();
  const auto n = static_cast<std::size_t>(counted.most);
  const double once = format.accumulation(n + 6) + own_accumulation(n + 6);
  const double twice = format.accumulation(2 * n + 10) + own_accumulation(2 * n + 10);
  const double shift = kUp * once * size_of(all) + underflow(4);
  const double spread = kUp * (all.high / 2 - all.low / 2);
  const double most = kUp * square(spread + shift) * (1 + twice) + underflow(4);
  const double largest = kUp * (1 + twice) * counted.most * std::max(most, size_of(all));
  const bool fits = std::isfinite(twice) && largest <= format.largest;
  return fits ? flushed({0, most, nan}) : Interval{0, kInfinity, true};
}

// The mean of numbers in an interval lies in it, but for the rounding of the sum.
Interval counted_mean(const Terms& terms, const Counts& counted, bool nan) {
  const Interval all = covering(terms);
  const auto n = static_cast<std::size_t>(counted.most);
  const Rounding& format = rounding();
  const double growth =
      kUp * (format.accumulation(n) + own_accumulation(n) + 4 * format.error(Operation::divide, 1));
  const double largest = size_of(all) * counted.most * kUp * (1 + growth);
  if (!(growth < 1) || !(largest <= format.largest)) {
    // Sums of numbers of one sign may overflow, but only to that side.
    if (all.low >= 0) return {0, kInfinity, nan};
    return all.high <= 0 ? Interval{-kInfinity, 0, nan} : Interval::everything();
  }
  const double low = all.low - growth * std::fabs(all.low) - underflow(4);
  const double high = all.high + growth * std::fabs(all.high) + underflow(4);
  return {all.low >= 0 ? std::max(low, 0.0) : low, all.high <= 0 ? std::min(high, 0.0) : high, nan};
}

// A product of any number of factors: only its size is known, if no factor is larger than 1.
Interval counted_product(const Terms& terms, bool nan) {
  const Interval all = covering(terms);
  if (size_of(all) > 1) return Interval::everything();
  return {all.low >= 0 ? 0.0 : -1.0, 1, nan};
}

// The standard deviation of numbers in intervals is within the root mean square of the radii of
// that of the middles, and at most half the width of their hull (Popoviciu). The mean is off as in
// the variance of bounded numbers.
Interval two_pass_variance(std::span<const Interval> x) {
  const std::size_t n = x.size();
  Interval result;
  const Terms terms = gathered(x, result);
  if (!result.has_number() || n == 0) return Interval::no_number(n == 0 || result.nan);
  if (const Counts* counted = counts_of(n)) return counted_variance(terms, *counted, result.nan);
  const Interval around = total(terms);
  if (!std::isfinite(around.low) || !std::isfinite(around.high)) return {0, kInfinity, true};
  std::vector<double> middles;
  Interval covered = terms[0];
  double radius_squares = 0;
  double squares = 0;
  for (const Interval& term : terms) {
    middles.push_back(to_double(term));
    radius_squares += square(kUp * (term.high / 2 - term.low / 2));
    squares += square(size_of(term));
    covered = hull(covered, term);
  }
  const double count = static_cast<double>(n);
  const Rounding& format = rounding();
  const double once = format.accumulation(n + 6) + own_accumulation(n + 6);
  const double twice = format.accumulation(2 * n + 10) + own_accumulation(2 * n + 10);
  const double center = std::sqrt(variance(middles));
  const double radius = kUp * std::sqrt(up_for(n) * radius_squares / count);
  const double shift = kUp * once * std::sqrt(up_for(n) * squares / count) + underflow(4);
  const double spread =
      std::min(kUp * center * (1 + once) + radius, kUp * (covered.high / 2 - covered.low / 2));
  const double most = kUp * square(spread + shift) * (1 + twice) + underflow(4);
  const double nearest = std::max(center / kUp * (1 - once) - radius - shift, 0.0);
  const double least = square(nearest) / kUp * (1 - twice) - underflow(4);
  const bool fits = std::isfinite(twice) && kUp * (1 + twice) * count * most <= format.largest;
  if (!fits) return {0, kInfinity, true};
  return flushed({std::max(least, 0.0), most, result.nan});
}

// The interval from low to high, which rounding made of x: it does not change a sign.
Interval keeping_sign(const Interval& x, double low, double high) {
  return {x.low >= 0 ? std::max(low, 0.0) : low, x.high <= 0 ? std::min(high, 0.0) : high, x.nan};
}

// A finite x with the error of its rounding, up or (for negative errors) down.
double moved(double x, double relative, double absolute) {
  if (std::isinf(x)) return x;
  return (x == 0 ? 0 : x + relative * std::fabs(x)) + absolute;
}

// The product of the terms in real numbers.
Interval exact_product(const Terms& terms) {
  const RoundingScope scope(Rounding::exact());
  Interval result = Interval::point(1);
  for (const Interval& term : terms) result = result * term;
  return result;
}

}  // namespace

Interval sum(std::span<const Interval> x) {
  return in_partial_sums([&] { return total(x); });
}

Interval dot(std::span<const Interval> a, std::span<const Interval> b) {
  return in_partial_sums([&] {
    Terms products(a.size());
    std::ranges::transform(a, b, products.begin(), [](auto& p, auto& q) { return p * q; });
    return total(products);
  });
}

Interval sum_of_squares(std::span<const Interval> x) {
  return in_partial_sums([&] {
    Terms squares(x.size());
    std::ranges::transform(x, squares.begin(), [](const Interval& v) { return square(v); });
    return total(squares);
  });
}

Interval sum_of_absolutes(std::span<const Interval> x) {
  Terms sizes(x.size());
  std::ranges::transform(x, sizes.begin(), [](const Interval& v) { return abs(v); });
  return sum(sizes);
}

Interval mean(std::span<const Interval> x) {
  return in_partial_sums([&] {
    const std::size_t n = x.size();
    if (const Counts* counted = counts_of(n); counted && n > 0) {
      Interval found;
      const Terms terms = gathered(x, found);
      return found.has_number() ? counted_mean(terms, *counted, found.nan) : found;
    }
    const double extra = std::has_single_bit(n) ? 0 : 2 * rounding().error(Operation::divide, 1);
    const Interval result = total(x, extra) / constant<Interval>(n);
    if (extra == 0 || !result.has_number()) return result;
    return keeping_sign(result, result.low - underflow(n), result.high + underflow(n));
  });
}

Interval variance(std::span<const Interval> x) {
  return in_partial_sums([&] { return two_pass_variance(x); });
}

Interval product(std::span<const Interval> x) {
  Interval found;
  const Terms terms = gathered(x, found);
  if (!found.has_number()) return found;
  if (counts_of(x.size())) return counted_product(terms, found.nan);
  Interval result = exact_product(terms);
  const std::size_t n = terms.size();
  if (n <= 1) return result;
  double most = 1;   // no partial product is larger,
  double least = 1;  // or smaller
  bool infinite = false;
  for (const Interval& term : terms) {
    most *= std::max(1.0, size_of(term));
    least *= std::min(1.0, least_size_of(term));
    infinite |= std::isinf(size_of(term));
  }
  const double growth = rounding().compound(Operation::multiply, n) + own_accumulation(n);
  const bool overflows = !(up_for(n) * (1 + growth) * most <= rounding().largest);
  const bool vanishes = least < rounding().smallest_normal;
  const bool nan = result.nan || ((infinite || overflows) && vanishes);
  const double off = overflows ? kInfinity : underflow(n) * most * (1 + growth);
  result = keeping_sign(result, moved(result.low, -growth, -off), moved(result.high, growth, off));
  return flushed({result.low, result.high, nan});
}

Interval maximum(std::span<const Interval> x) {
  Interval result = Interval::point(-kInfinity);
  for (const Interval& v : x) result = max(result, v);
  return result;
}

Interval minimum(std::span<const Interval> x) {
  Interval result = Interval::point(kInfinity);
  for (const Interval& v : x) result = min(result, v);
  return result;
}

// It grows with every term, and so does its lower end: the error grows only with the size of the
// maximum, and less than that.
Interval log_sum_exp(std::span<const Interval> x) {
  Interval result;
  const Terms terms = gathered(x, result);
  if (!result.has_number()) return result;
  std::vector<double> lows(terms.size());
  std::vector<double> highs(terms.size());
  std::ranges::transform(terms, lows.begin(), &Interval::low);
  std::ranges::transform(terms, highs.begin(), &Interval::high);
  const Counts* counted = counts_of(x.size());
  const std::size_t n = counted ? static_cast<std::size_t>(counted->most) : terms.size();
  const auto error = [&](std::span<const double> ends) {
    const double top = maximum(ends);
    return std::isinf(top)
               ? 0
               : log_sum_exp_error(Rounding::f64(), n, top) + log_sum_exp_error(rounding(), n, top);
  };
  result.low = log_sum_exp(lows) - kUp * error(lows);
  result.high = log_sum_exp(highs) + kUp * error(highs);
  if (counted) result.high += kUp * std::log(counted->most);
  if (result.low < -rounding().largest) result.low = -kInfinity;
  if (result.high > rounding().largest) result.high = kInfinity;
  return flushed(result);
}

}  // namespace assay

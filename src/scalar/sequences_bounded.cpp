// Reductions of bounded numbers: one bound for every order of evaluation.
//
// A sum of n terms, in any order, is off by at most γ(n) · Σ|x| (Higham, Accuracy and Stability of
// Numerical Algorithms, section 4.2), where the x are any that the terms cover.
#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "scalar/accumulation.h"
#include "scalar/outward.h"
#include "scalar/sequences.h"

namespace assay {
namespace {

// What matters about the terms of a reduction.
struct Survey {
  bool nan = false;
  bool anything = false;
  bool plus_infinity = false;
  bool minus_infinity = false;
  bool negative_zero = false;
  bool unsure_zero = false;  // some finite term may be 0 or not
  bool exact_zero = false;
  bool exact = true;      // no term has an error
  std::size_t terms = 0;  // finite and not exactly 0
  double magnitude = 0;   // Σ (|x| + e) over these
  double error = 0;       // Σ e
  Bounded last;           // the last of these
  Quanta quanta;

  explicit Survey(std::span<const Bounded> x) {
    for (const Bounded& operand : x) add(flushed(operand));
    magnitude *= up_for(x.size());
    error *= up_for(x.size());
  }

  void add(const Bounded& x) {
    if (x.is_anything()) {
      anything = true;
    } else if (std::isnan(x.value)) {
      nan = true;
    } else if (std::isinf(x.value)) {
      (x.value > 0 ? plus_infinity : minus_infinity) = true;
    } else if (x.value == 0 && x.is_exact()) {
      exact_zero = true;
      negative_zero |= std::signbit(x.value);
    } else {
      add_term(x);
    }
  }

  void add_term(const Bounded& x) {
    ++terms;
    last = x;
    magnitude += std::fabs(x.value) + x.error;
    error += x.error;
    exact &= x.is_exact();
    unsure_zero |= std::fabs(x.value) <= x.error;
    quanta.add(x.value);
  }

  bool infinite() const { return plus_infinity || minus_infinity; }
};

double pairwise_value(std::span<const Bounded> x) {
  return pairwise_sum(0, x.size(), [&](std::size_t i) { return x[i].value; });
}

// A sum whose terms have an error of `extra`, relative, on top of their own.
Bounded total(std::span<const Bounded> x, double extra = 0) {
  const Survey survey(x);
  const double value = pairwise_value(x);
  if (survey.nan) return {kNaN, 0};
  if (survey.anything) return Bounded::anything(value);
  if (survey.plus_infinity && survey.minus_infinity) return {kNaN, 0};
  const std::size_t n = survey.terms;
  const double growth = rounding().accumulation(n) + extra;
  const double lost = underflow(n);
  const double partial = n <= 1 ? std::fabs(survey.last.value) + survey.last.error
                                : (1 + growth) * survey.magnitude + lost;
  const bool fits = partial <= rounding().largest;
  if (survey.infinite()) return fits ? Bounded{value, 0} : Bounded::anything(value);
  if (n == 0) return {value, survey.negative_zero && x.size() > 1 ? kSmallestDouble : 0};
  if (x.size() == 1 && extra == 0) return survey.last;
  if (survey.exact && extra == 0 && survey.quanta.keep_sums_exact()) return {value, 0};
  if (!fits) return Bounded::anything(value);
  const double relative = growth + own_accumulation(n);
  return settle(value, kUp * (survey.error + relative * survey.magnitude + lost));
}

std::vector<double> values(std::span<const Bounded> x) {
  std::vector<double> result(x.size());
  std::ranges::transform(x, result.begin(), &Bounded::value);
  return result;
}

double root_mean_square(double squares, std::size_t n) {
  return kUp * std::sqrt(up_for(n) * squares / static_cast<double>(n));
}

// Let V be the variance of the values, r the root mean square of their errors: the standard
// deviation of any terms that are covered is within r of √V. A rounded mean, or Welford's running
// one, is off by t = γ(n)·rms(x), and adds at most 2t√V + t².
Bounded two_pass_variance(std::span<const Bounded> x) {
  const std::size_t n = x.size();
  const double value = variance(values(x));
  const Survey survey(x);
  if (survey.anything && !survey.nan) return Bounded::anything(value);
  if (survey.nan || survey.infinite() || n == 0) return {kNaN, 0};
  double error_squares = 0;
  double squares = 0;
  for (const Bounded& operand : x) {
    const Bounded term = flushed(operand);
    error_squares += square(term.error);
    squares += square(std::fabs(term.value) + term.error);
  }
  const Rounding& format = rounding();
  const double once = format.accumulation(n + 6) + own_accumulation(n + 6);
  const double deviation = kUp * std::sqrt(value);
  const double shift =
      root_mean_square(error_squares, n) + once * root_mean_square(squares, n) + underflow(4);
  const double most = deviation + shift;
  const double twice = format.accumulation(2 * n + 10) + own_accumulation(2 * n + 10);
  const double error = (2 * deviation + shift) * shift + twice * most * most + underflow(4);
  const double count = static_cast<double>(n);
  const double largest_sum = count * std::max(root_mean_square(squares, n), most * most);
  if (!(kUp * (1 + twice) * largest_sum <= format.largest)) return Bounded::anything(value);
  return settle(value, kUp * error);
}

// What happens when factors are infinite: a zero among the others, or one that underflow makes,
// gives NaN.
Bounded infinite_product(const Survey& survey, double value, double least) {
  if (survey.exact_zero) return {kNaN, 0};
  if (survey.unsure_zero || least < rounding().smallest_normal) return Bounded::anything(value);
  return {value, 0};
}

}  // namespace

Bounded sum(std::span<const Bounded> x) {
  return in_partial_sums([&] { return total(x); });
}

Bounded dot(std::span<const Bounded> a, std::span<const Bounded> b) {
  return in_partial_sums([&] {
    std::vector<Bounded> products(a.size());
    std::ranges::transform(a, b, products.begin(), [](auto& p, auto& q) { return p * q; });
    return total(products);
  });
}

Bounded sum_of_squares(std::span<const Bounded> x) { return dot(x, x); }

Bounded sum_of_absolutes(std::span<const Bounded> x) {
  std::vector<Bounded> sizes(x.size());
  std::ranges::transform(x, sizes.begin(), [](const Bounded& v) { return abs(v); });
  return sum(sizes);
}

// Also for a sum of x / n, or of x · (1 / n).
Bounded mean(std::span<const Bounded> x) {
  return in_partial_sums([&] {
    const std::size_t n = x.size();
    const double extra = std::has_single_bit(n) ? 0 : 2 * rounding().error(Operation::divide, 1);
    const Bounded quotient = total(x, extra) / constant<Bounded>(n);
    if (extra == 0 || !std::isfinite(quotient.value) || quotient.is_anything()) return quotient;
    return settle(quotient.value, kUp * (quotient.error + underflow(n)));
  });
}

Bounded variance(std::span<const Bounded> x) {
  return in_partial_sums([&] { return two_pass_variance(x); });
}

Bounded product(std::span<const Bounded> x) {
  const Survey survey(x);
  const double value = product(values(x));
  if (survey.nan) return {kNaN, 0};
  if (survey.anything) return Bounded::anything(value);
  double size = 1;   // Π (|x| + e)
  double most = 1;   // no partial product of finite factors is larger,
  double least = 1;  // or smaller
  double odd_parts = 1;
  for (const Bounded& operand : x) {
    const Bounded factor = flushed(operand);
    if (!std::isfinite(factor.value)) continue;
    const double reach = std::fabs(factor.value) + factor.error;
    size *= reach;
    most *= std::max(1.0, reach);
    least *= std::min(1.0, std::fabs(factor.value) - factor.error);
    odd_parts *= odd_part(factor.value);
  }
  if (survey.infinite()) return infinite_product(survey, value, least);
  const std::size_t n = survey.terms;
  const Rounding& format = rounding();
  const double growth = format.compound(Operation::multiply, n);
  if (!(up_for(n) * (1 + growth) * most <= format.largest)) return Bounded::anything(value);
  if (survey.exact_zero) return {value, survey.exact ? 0 : kSmallestDouble};
  if (x.size() == 1) return survey.last;
  if (survey.exact && format.rounds_correctly(Operation::multiply) &&
      least >= format.smallest_normal && odd_parts < 1 / format.unit) {
    return {value, 0};
  }
  const double propagated = std::max(size * up_for(n) - std::fabs(value), 0.0);
  const double error = propagated + (growth + own_accumulation(2 * n)) * up_for(n) * size;
  return settle(value, kUp * (error + underflow(n) * most * (1 + growth)));
}

Bounded maximum(std::span<const Bounded> x) {
  Bounded result{-kInfinity, 0};
  for (const Bounded& v : x) result = max(result, v);
  return result;
}

Bounded minimum(std::span<const Bounded> x) {
  Bounded result{kInfinity, 0};
  for (const Bounded& v : x) result = min(result, v);
  return result;
}

Bounded log_sum_exp(std::span<const Bounded> x) {
  const double value = log_sum_exp(values(x));
  const Survey survey(x);
  if (survey.nan) return {kNaN, 0};
  if (survey.anything) return Bounded::anything(value);
  if (!std::isfinite(value)) return {value, 0};
  double top = 0;
  double error = 0;
  for (const Bounded& operand : x) {
    const Bounded term = flushed(operand);
    if (!std::isfinite(term.value)) continue;
    top = std::max(top, std::fabs(term.value) + term.error);
    error = std::max(error, term.error);
  }
  const std::size_t n = x.size();
  const double own = log_sum_exp_error(Rounding::f64(), n, top);
  return settle(value, kUp * (error + own + log_sum_exp_error(rounding(), n, top)));
}

}  // namespace assay

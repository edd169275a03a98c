#include "scalar/accumulation.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "scalar/outward.h"

namespace assay {
namespace {

// The exponent of the lowest bit that is set in a finite x other than 0.
int lowest_bit(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto exponent = static_cast<int>((bits >> 52) & 0x7ff);
  const std::uint64_t hidden = exponent == 0 ? 0 : std::uint64_t{1} << 52;
  const std::uint64_t significand = (bits & ((std::uint64_t{1} << 52) - 1)) | hidden;
  return std::max(exponent, 1) - 1075 + std::countr_zero(significand);
}

}  // namespace

void Quanta::add(double term) {
  if (term == 0) return;
  lowest_ = std::min(lowest_, lowest_bit(term));
  magnitude_ += std::fabs(term);
}

bool Quanta::keep_sums_exact() const {
  if (magnitude_ == 0) return true;
  const Rounding& format = rounding();
  const double quantum = std::ldexp(1.0, lowest_);
  const double smallest =
      format.flushes_subnormals ? format.smallest_normal : 2 * format.unit * format.smallest_normal;
  return format.rounds_correctly(Operation::add) && quantum >= smallest &&
         magnitude_ < quantum / format.unit && magnitude_ <= format.largest;
}

double odd_part(double x) { return x == 0 ? 0 : std::ldexp(std::fabs(x), -lowest_bit(x)); }

double own_accumulation(std::size_t n) {
  return static_cast<double>(std::min<std::size_t>(n, 96)) * 0x1p-53 * kUp;
}

double up_for(std::size_t n) { return 1 + static_cast<double>(n + 8) * 0x1p-51; }

double underflow(std::size_t n) {
  const Rounding& format = rounding();
  const double each =
      2 * format.tiny + (format.flushes_subnormals ? 2 * format.smallest_normal : 0);
  return static_cast<double>(n) * each;
}

Bounded narrowed(const Bounded& x) {
  return x.is_anything() || !std::isfinite(x.value) ? x : rounded(x.value, x.error);
}

Interval narrowed(const Interval& x) {
  if (!x.has_number()) return x;
  const auto end = [](double value) -> End {
    return {value, std::isinf(value) || rounding().holds(value)};
  };
  const double low = lower_end(Operation::add, end(x.low));
  return flushed({low, upper_end(Operation::add, end(x.high)), x.nan});
}

// With S = Σ exp(x − m) >= 1: the rounding of d = x − m gives a term an error of u|d|e^d, where
// |d|e^d < 0.37; then come the error of exp, of the sum, of log S (S <= n) and of the last sum.
double log_sum_exp_error(const Rounding& format, std::size_t n, double top) {
  const auto terms = static_cast<double>(n);
  const double shift = 0.37 * format.error(Operation::add, 1);
  const double flush = format.flushes_subnormals ? 2 * format.smallest_normal : 0;
  const OperationError& exp = format.functions[static_cast<std::size_t>(Operation::exp)];
  const double each = shift + flush + exp.absolute + 4 * exp.ulps * format.tiny;
  const double relative = format.error(Operation::exp, 1) + format.error(Operation::add, 1) +
                          format.accumulation(n) + terms * each;
  if (!(relative < 0.5)) return kInfinity;
  const double inner = relative / (1 - relative);
  const double size = std::log(std::max(terms, 1.0)) + inner;
  const double outer = format.error(Operation::log, size);
  return kUp * (inner + outer + format.error(Operation::add, std::fabs(top) + size + outer));
}

}  // namespace assay

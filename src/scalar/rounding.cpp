#include "scalar/rounding.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "scalar/outward.h"
#include "scalar/tier.h"

namespace assay {
namespace {

// Rounding to a wider format first adds its unit: 2^-11 of ours for f64 by way of 80 bits, 2^-13
// for f16 by way of f32, 2^-7 for float8 by way of f16.
constexpr double kTwice = 1 + 0x1p-6;

thread_local const Rounding* current = nullptr;

OperationError& error_of(Rounding& format, Operation function) {
  return format.functions[static_cast<std::size_t>(function)];
}

double compounded(const OperationError& each, double unit, double n) {
  const double all = n * (2 * each.ulps * kTwice * unit);
  return all < 1 ? kUp * all / (1 - all) : kInfinity;
}

Rounding make_exact() {
  Rounding format = Rounding::of(53, -1022, std::numeric_limits<double>::max());
  format.functions.fill({0.5, 0});
  return format;
}

}  // namespace

Rounding Rounding::of(int precision_bits, int min_exponent, double largest) {
  Rounding format;
  format.unit = std::ldexp(1.0, -precision_bits);
  format.smallest_normal = std::ldexp(1.0, min_exponent);
  format.tiny = std::max(format.smallest_normal * format.unit, 0x1p-1072);
  format.largest = largest;
  format.partial_unit = format.unit;
  format.partial_tiny = format.tiny;
  format.partial_largest = largest;
  for (Operation f : {Operation::add, Operation::multiply, Operation::divide, Operation::reciprocal,
                      Operation::square_root}) {
    error_of(format, f) = {0.5, 0};
  }
  // 1 / (1 + exp(−x)) as it stands is honest: its exp may overflow, which gives 0.
  error_of(format, Operation::sigmoid) = {6, (1 + 0x1p-6) / largest};
  // log(1 + exp(x)) without log1p is honest too: 1 + exp(x) is rounded.
  error_of(format, Operation::softplus) = {6, 2 * format.unit};
  return format;
}

const Rounding& Rounding::f64() {
  static const Rounding format = of(53, -1022, std::numeric_limits<double>::max());
  return format;
}

const Rounding& Rounding::f32() {
  static const Rounding format = of(24, -126, 0x1.fffffep127);
  return format;
}

const Rounding& Rounding::f16() {
  static const Rounding format = of(11, -14, 65504);
  return format;
}

const Rounding& Rounding::bf16() {
  static const Rounding format = of(8, -126, 0x1.fep127);
  return format;
}

const Rounding& Rounding::exact() {
  static const Rounding format = make_exact();
  return format;
}

Rounding Rounding::accumulating_in(const Rounding& wider) const {
  Rounding format = *this;
  format.partial_unit = wider.unit;
  format.partial_tiny = wider.tiny;
  format.partial_largest = wider.largest;
  return format;
}

Rounding Rounding::of_partial_sums() const {
  if (!accumulates_wider()) return *this;
  Rounding format = *this;
  format.unit = partial_unit;
  format.tiny = partial_tiny;
  format.largest = partial_largest;
  format.smallest_normal = partial_tiny / partial_unit;
  return format;
}

bool Rounding::holds(double x) const {
  const double size = std::fabs(x);
  if (size == 0) return true;
  if (!(size <= largest)) return false;
  if (size < smallest_normal && flushes_subnormals) return false;
  if (size < smallest_normal) {
    const double steps = size / (2 * unit * smallest_normal);
    return steps == std::trunc(steps);
  }
  const auto precision = 1023 - (std::bit_cast<std::uint64_t>(unit) >> 52);
  const std::uint64_t excess = (std::uint64_t{1} << (53 - precision)) - 1;
  return (std::bit_cast<std::uint64_t>(size) & excess) == 0;
}

bool Rounding::rounds_correctly(Operation function) const {
  const OperationError& e = functions[static_cast<std::size_t>(function)];
  return e.ulps <= 0.5 && e.absolute == 0;
}

double Rounding::error(Operation function, double magnitude) const {
  const OperationError& e = functions[static_cast<std::size_t>(function)];
  const double scale = 2 * e.ulps * kTwice;
  return kUp * ((scale * unit + 0x1p-53) * magnitude + scale * tiny + e.absolute);
}

double Rounding::accumulation(std::size_t n) const {
  note_sum(n);
  const OperationError& add = functions[static_cast<std::size_t>(Operation::add)];
  return compounded(add, partial_unit, roundings_of(n, tier()));
}

double Rounding::compound(Operation function, std::size_t n) const {
  const OperationError& each = functions[static_cast<std::size_t>(function)];
  return compounded(each, unit, static_cast<double>(n));
}

const Rounding& rounding() { return current != nullptr ? *current : Rounding::f32(); }

RoundingScope::RoundingScope(const Rounding& format) : before_(current) { current = &format; }

RoundingScope::~RoundingScope() { current = before_; }

}  // namespace assay

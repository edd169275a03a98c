// The number format in which a node is evaluated, and how far an honest evaluation in it may stray.
//
// An evaluation may round each operation to the format, or keep more precision anywhere (a wider
// accumulator, a fused multiply-add), so every bound is two-sided around the exact result. It may
// round twice (first to a wider format), which the bounds allow for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace assay {

// The operations that a profile may give an error of their own. The first five are correctly
// rounded unless a profile says otherwise.
enum class Operation : std::uint8_t {
  add,  // and subtract
  multiply,
  divide,
  reciprocal,
  square_root,
  exp,
  expm1,
  log,
  log1p,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  atan2,
  sinh,
  cosh,
  tanh,
  asinh,
  acosh,
  atanh,
  erf,
  pow,
  sigmoid,
  softplus,
};
inline constexpr std::size_t kOperationCount = static_cast<std::size_t>(Operation::softplus) + 1;

// How far a result may be from the exact one: so many units in the last place, plus `absolute`.
struct OperationError {
  double ulps = 4;
  double absolute = 0;
};

struct Rounding {
  double unit = 0;  // half the distance from 1 to the next number
  double tiny = 0;  // half the smallest subnormal (a little more where double has none)
  double smallest_normal = 0;
  double largest = 0;  // the largest finite number
  // Of the terms and partial sums of a reduction: the format's own, or those of a wider one.
  double partial_unit = 0;
  double partial_tiny = 0;
  double partial_largest = 0;
  bool flushes_subnormals = false;  // operands and results below smallest_normal may become 0
  std::array<OperationError, kOperationCount> functions{};

  // A binary format with `precision_bits` significant bits (the hidden one counts) whose smallest
  // normal number is 2^min_exponent.
  static Rounding of(int precision_bits, int min_exponent, double largest);
  static const Rounding& f64();
  static const Rounding& f32();
  static const Rounding& f16();
  static const Rounding& bf16();
  static const Rounding& exact();  // real arithmetic as near as double comes to it

  // The same format with sums that are kept in `wider` and rounded once at the end.
  Rounding accumulating_in(const Rounding& wider) const;
  bool accumulates_wider() const { return partial_unit < unit; }
  // The format of the terms and partial sums themselves.
  Rounding of_partial_sums() const;

  // Whether a finite x is a number of the format (and survives it: a flushed subnormal does not).
  bool holds(double x) const;

  // Whether `function` is correctly rounded, so that a result the format holds is that result.
  bool rounds_correctly(Operation function) const;

  // The most by which a result of magnitude at most `magnitude` may differ from its value in
  // double, when that is the exact result rounded once.
  double error(Operation function, double magnitude) const;

  // The relative error of a sum of n terms in any order: n·u / (1 − n·u), or infinity. And that
  // of n operations of another kind, one upon the other.
  double accumulation(std::size_t n) const;
  double compound(Operation function, std::size_t n) const;
};

// The format of the operations on this thread; f32 outside every scope.
const Rounding& rounding();

// Sets the format for as long as it lives. `format` must outlive it.
class RoundingScope {
 public:
  explicit RoundingScope(const Rounding& format);
  ~RoundingScope();
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  const Rounding* before_;
};

}  // namespace assay

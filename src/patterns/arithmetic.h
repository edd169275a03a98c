// Arithmetic: what is known of how a backend computes, beyond what every honest evaluation may do.
#pragma once

#include <array>

#include "scalar/rounding.h"

namespace assay {

struct Arithmetic {
  // How far functions are off in float32, beside which narrower formats round the more and float64
  // as ever.
  std::array<OperationError, kOperationCount> functions = Rounding::f32().functions;
  bool flushes_subnormals = false;  // of float32, and of what has its exponents
  bool wide_sums = false;           // of formats narrower than float32, in float32
};

// Sets what rounding_of says to this thread, and in its loops, for as long as it lives; null is the
// default. `arithmetic` must outlive it. Not while a node is being evaluated.
class ArithmeticScope {
 public:
  explicit ArithmeticScope(const Arithmetic* arithmetic);
  ~ArithmeticScope();
  ArithmeticScope(const ArithmeticScope&) = delete;
  ArithmeticScope& operator=(const ArithmeticScope&) = delete;

 private:
  const Arithmetic* before_;
};
const Arithmetic* current_arithmetic();

}  // namespace assay

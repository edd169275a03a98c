// Contraction: sums of products over shared indices, as matrix products in every reading.
#pragma once

#include <cstdint>
#include <vector>

#include "patterns/compute.h"

namespace assay {

// C (m x n, row-major) = A (m x k) B (k x n), strides in elements. S: double, Bounded (bounds every
// order of summation), Interval (midpoint and radius), std::int64_t, std::uint64_t (wrapping).
template <class S>
struct Matrix {
  const S* data;
  std::int64_t row_stride, column_stride;
};
template <class S>
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<S> a, Matrix<S> b, S* c);

// Many products of one form: batch t multiplies the matrices that begin at element a[t] of A and
// b[t] of B, and writes m*n elements of the output from c[t] on.
struct Contraction {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t a_row = 0, a_column = 0, b_row = 0, b_column = 0;
  Shape a, b, c;
};

// Works on the stored elements without converting them first where the reading is `value`.
Value contract(const Call& call, const Value& a, const Value& b, const Contraction& form,
               ElementType type, const Shape& shape);

}  // namespace assay

// Matrix products in double, the one primitive under every contraction, convolution and recurrence.
//
// Every element of C is the same function of its row of A, its column of B and k: products are
// added in ascending order within blocks of 256 terms, one rounding a term (two where the machine
// has no fused multiply-add), and the block sums are added in ascending order. So the bits of a
// result depend neither on the number of threads nor on how a caller cuts m and n; only the payload
// and sign of a NaN may. Equal bits on machines with and without fused multiply-add are not a goal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "patterns/gemm_kernel.h"
#include "tensor/tensor.h"

namespace assay {

// Element (i, j) is data[i * row_stride + j * column_stride], as float or as double.
struct MatrixView {
  const void* data = nullptr;
  bool is_float = false;
  std::ptrdiff_t row_stride = 0;
  std::ptrdiff_t column_stride = 0;
};

// C[i * ldc + j] = sum over k of A(i, k) B(k, j). Overwrites C, which must not overlap A or B and
// is never read before it is written; ldc >= n, and what lies between the rows stays. k == 0 gives
// 0.
void gemm(std::int64_t m, std::int64_t n, std::int64_t k, const MatrixView& a, const MatrixView& b,
          double* c, std::int64_t ldc);

// A, packed once for products with many strips of B. For the instruction set at the time.
class PackedRows {
 public:
  PackedRows(std::int64_t m, std::int64_t k, const MatrixView& a);

  // Of the same panels; products read their magnitudes.
  PackedRows magnitudes() const;
  std::int64_t rows() const { return m_; }
  std::int64_t terms() const { return k_; }
  // The panel of `rows` rows from i on, both multiples of a sliver's width unless they are the last
  // ones, for the block of terms at k0; maybe in `room`.
  const double* panel(std::int64_t i, std::int64_t rows, std::int64_t k0, double* room) const;

 private:
  std::int64_t m_, k_, padded_, width_;
  Tensor panels_;
  bool magnitudes_ = false;
};

// The columns that one of these products may have at most.
constexpr std::int64_t kStripColumns = 480;

// C = A B for one strip of columns.
void gemm(const PackedRows& a, std::int64_t n, const MatrixView& b, double* c, std::int64_t ldc);

// Packs the rows [k0, k1) of B, at most 256, in slivers of `width` columns: B(k0 + kk, j) goes to
// panel[(j / width * (k1 - k0) + kk) * width + j % width]. May write anything to the places of
// columns that B lacks and to the kPanelSlack elements behind the panel. Called for some rows more
// than once, on several threads at a time. Must not call gemm itself.
using PackColumns =
    std::function<void(std::int64_t k0, std::int64_t k1, std::int64_t width, double* panel)>;
constexpr std::int64_t kPanelSlack = 8;

// The same with a B that exists only block by block (the patches of a convolution).
void gemm_packed(const PackedRows& a, std::int64_t n, const PackColumns& pack_b, double* c,
                 std::int64_t ldc);

// And with one whose rows can be read where they lie: gives the rows [k0, k1), which need last only
// until the next call on the same thread.
using SpreadRows = std::function<SpreadColumns(std::int64_t k0, std::int64_t k1)>;
void gemm_spread(const PackedRows& a, std::int64_t n, const SpreadRows& b, double* c,
                 std::int64_t ldc);

}  // namespace assay

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
#include <string_view>

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

// Writes B(kk, jj) for kk in [k0, k1) and jj in [j0, j1) to out[(kk - k0) * out_stride + (jj -
// j0)]. Called for tiles of at most 256 rows and a few dozen columns, in any order, on several
// threads at a time, for some elements more than once. Must not call gemm itself.
using PackColumns = std::function<void(std::int64_t k0, std::int64_t k1, std::int64_t j0,
                                       std::int64_t j1, double* out, std::int64_t out_stride)>;

// The same product with a B that exists only tile by tile (the patches of a convolution).
void gemm_packed(std::int64_t m, std::int64_t n, std::int64_t k, const MatrixView& a,
                 const PackColumns& pack_b, double* c, std::int64_t ldc);

// The instruction set in use: "sse", "avx2" or "avx512". The best one of the machine, unless the
// environment variable ASSAY_ISA names a lower one.
std::string_view gemm_isa();

// Uses another one from now on; false, and no change, if this machine lacks it or the name is none.
// For tests and benchmarks: not while a product is being computed.
bool set_gemm_isa(std::string_view name);

}  // namespace assay

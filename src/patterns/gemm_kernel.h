// What a matrix product needs from one instruction set: gemm.cpp drives it, gemm_<isa>.cpp makes
// it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay {

// Terms of a sum that are added in one run. Part of the meaning of a product (see gemm.h): it must
// not depend on sizes, threads or instruction set.
constexpr std::int64_t kGemmDepth = 256;

// One operand seen from the sum: element (outer, k) is data[outer * outer_stride + k * k_stride],
// where outer is a row of A or a column of B.
struct GemmOperand {
  const void* data;
  bool is_float;
  std::ptrdiff_t outer_stride;
  std::ptrdiff_t k_stride;
};

// Rows of B that lie anywhere in memory: columns 8 i to 8 i + 7 of row k are the eight elements
// from data[rows[k] + eights[i]] on. `eights` goes on for the columns that the last sliver has too
// much; what is read there may be anything.
struct SpreadColumns {
  const double* data;
  const std::int64_t* rows;
  const std::int64_t* eights;
};
constexpr std::int64_t kMostSliver = 24;

// A packed panel is a row of slivers, each of `width` outer elements (the last one padded with
// zeros): element (outer, k) is panel[(outer / width) * width * depth + k * width + outer % width].
// `depth` is at most kGemmDepth, k is any; `first` says that C is written, not added to.
struct GemmKernels {
  const char* name;
  std::int64_t rows;     // width of a sliver of A
  std::int64_t columns;  // width of a sliver of B
  void (*pack_rows)(const GemmOperand& a, std::int64_t rows, std::int64_t depth, double* panel);
  void (*pack_columns)(const GemmOperand& b, std::int64_t columns, std::int64_t depth,
                       double* panel);
  // The product of two packed panels.
  void (*multiply)(std::int64_t rows, std::int64_t columns, std::int64_t depth, const double* a,
                   const double* b, double* c, std::int64_t ldc, bool first);
  // The same with columns that need no packing.
  void (*multiply_spread)(std::int64_t rows, std::int64_t columns, std::int64_t depth,
                          const double* a, const SpreadColumns& b, double* c, std::int64_t ldc,
                          bool first);
  // y[j * y_stride] = sum over k of x[k] matrix(j, k). One stride of the matrix must be 1.
  void (*vector_multiply)(std::int64_t columns, std::int64_t k, const double* x,
                          const GemmOperand& matrix, double* y, std::int64_t y_stride);
  // A whole product without packing: for sizes at which packing costs more.
  void (*tiny)(std::int64_t rows, std::int64_t columns, std::int64_t k, const GemmOperand& a,
               const GemmOperand& b, double* c, std::int64_t ldc);
};

const GemmKernels& gemm_kernels_sse();
const GemmKernels& gemm_kernels_avx2();
const GemmKernels& gemm_kernels_avx512();

}  // namespace assay

// Loops over contiguous rows in which pooling and direct convolutions spend their time, one set for
// each instruction set: row_kernels.cpp chooses, row_kernels_<isa>.cpp makes them.
#pragma once

#include <cstdint>

namespace assay {

struct RowKernels {
  void (*widen)(const float* x, std::int64_t count, double* out);
  // acc[j] is the larger of x[j] and acc[j], NaN if one of them is.
  void (*max_floats)(const float* x, std::int64_t count, float* acc);
  void (*max_doubles)(const double* x, std::int64_t count, double* acc);
  void (*add_floats)(const float* x, std::int64_t count, double* acc);
  void (*add_doubles)(const double* x, std::int64_t count, double* acc);
  double (*sum_floats)(const float* x, std::int64_t count);
  double (*sum_doubles)(const double* x, std::int64_t count);
  // out[j] = Σ weights[t] rows[t][j], terms added in ascending order and fused where the machine
  // can.
  void (*weigh)(const double* const* rows, const double* weights, std::int64_t terms,
                std::int64_t count, double* out);
};

// Those of the instruction set that matrix products use (gemm_isa).
const RowKernels& row_kernels();

const RowKernels& row_kernels_sse();
const RowKernels& row_kernels_avx2();
const RowKernels& row_kernels_avx512();

}  // namespace assay

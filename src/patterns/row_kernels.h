// Loops over contiguous rows in which pooling and direct convolutions spend their time, one set for
// each instruction set: row_kernels.cpp chooses, row_kernels_<isa>.cpp makes them.
#pragma once

#include <cstdint>

namespace assay {

// Rows of a matrix of patches, given as units of eight neighbouring elements of image rows. Row k
// is tap k % taps of leading tap k / taps % leading of a channel.
constexpr std::int64_t kRowUnit = 8;
struct RowUnits {
  const double* channel = nullptr;  // that of the first row
  std::int64_t channel_size = 0;
  const std::int64_t* starts = nullptr;  // by tap
  std::int64_t taps = 0, leading = 0;
  std::int64_t count = 0;              // of units
  const std::int64_t* from = nullptr;  // by leading tap and unit: where it comes from
  const std::int64_t* to = nullptr;    // by unit
};

struct RowKernels {
  void (*widen)(const float* x, std::int64_t count, double* out);
  // out[j] = x[2 j]; reads nothing behind x[2 count - 2].
  void (*widen_every_second)(const float* x, std::int64_t count, double* out);
  // out[j] = x[j] + shift, rounded once.
  void (*narrow)(const double* x, double shift, std::int64_t count, float* out);
  // even[j] = x[2 j] and odd[j] = x[2 j + 1].
  void (*split_floats)(const float* x, std::int64_t count, float* even, float* odd);
  void (*split_doubles)(const double* x, std::int64_t count, double* even, double* odd);

  // out[j] over rows[t][j]: the largest (NaN if one of them is), the sum in ascending order. At
  // least one row.
  void (*max_floats)(const float* const* rows, std::int64_t terms, std::int64_t count, float* out);
  void (*max_doubles)(const double* const* rows, std::int64_t terms, std::int64_t count,
                      double* out);
  void (*add_floats)(const float* const* rows, std::int64_t terms, std::int64_t count, double* out);
  void (*add_doubles)(const double* const* rows, std::int64_t terms, std::int64_t count,
                      double* out);
  // out[j] = Σ weights[t] rows[t][j], ascending, fused where the machine can.
  void (*weigh)(const double* const* rows, const double* weights, std::int64_t terms,
                std::int64_t count, double* out);
  // Rows [k0, k1), which begin `stride` apart. Whole units: what one writes too much is overwritten
  // by the next one, or lies behind the last row.
  void (*copy_units)(const RowUnits& units, std::int64_t k0, std::int64_t k1, std::int64_t stride,
                     double* out);
  // x[j] /= factor * divisors[j].
  void (*divide)(double* x, double factor, const double* divisors, std::int64_t count);

  double (*sum_floats)(const float* x, std::int64_t count);
  double (*sum_doubles)(const double* x, std::int64_t count);
};

// Those of the instruction set in use. To be asked once a loop.
const RowKernels& row_kernels();

const RowKernels& row_kernels_sse();
const RowKernels& row_kernels_avx2();
const RowKernels& row_kernels_avx512();

}  // namespace assay

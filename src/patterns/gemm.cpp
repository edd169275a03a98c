#include "patterns/gemm.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <vector>

#include "base/check.h"
#include "base/isa.h"
#include "base/parallel.h"

namespace assay {
namespace {

// Multiples of every sliver's width. A block of A (256 KiB) and a strip of B (960 KiB) pass through
// the caches of one core; each element of A is packed once a strip, each of B once a row block.
constexpr std::int64_t kRowsPacked = 128;
constexpr std::int64_t kRowBlock = 1024;

// In multiply-adds. Below the first, packing costs more than it saves; below the second (about 20
// microseconds), waking another thread does.
constexpr double kTinyWork = 60;
constexpr double kParallelWork = 400e3;
constexpr double kParallelVectorWork = 100e3;

// The least that is cut off for a thread of its own, and in what steps.
constexpr std::int64_t kFewestColumns = 40;
constexpr std::int64_t kFewestRows = 64;
constexpr std::int64_t kStep = 8;
// Elements worth a thread when packing.
constexpr std::int64_t kPackingGrain = 8 * 1024;

struct FreeAligned {
  void operator()(double* p) const { ::operator delete[](p, std::align_val_t{64}); }
};
using Buffer = std::unique_ptr<double[], FreeAligned>;

Buffer make_buffer(std::int64_t size) {
  void* raw =
      ::operator new[](static_cast<std::size_t>(size) * sizeof(double), std::align_val_t{64});
  return Buffer(static_cast<double*>(raw));
}

// Packed panels, kept by each thread from product to product.
struct Panels {
  Buffer a = make_buffer(kRowsPacked * kGemmDepth);
  Buffer b = make_buffer(kStripColumns * kGemmDepth + kPanelSlack);
};

Panels& panels() {
  thread_local Panels own;
  return own;
}

const GemmKernels& current_kernels() {
  return by_isa(gemm_kernels_sse, gemm_kernels_avx2, gemm_kernels_avx512)();
}

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
std::int64_t round_up(std::int64_t a, std::int64_t b) { return divide_up(a, b) * b; }

double work_of(std::int64_t m, std::int64_t n, std::int64_t k) {
  return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
}

GemmOperand at(const GemmOperand& operand, std::int64_t outer, std::int64_t k) {
  const std::ptrdiff_t offset = outer * operand.outer_stride + k * operand.k_stride;
  GemmOperand moved = operand;
  moved.data = operand.is_float
                   ? static_cast<const void*>(static_cast<const float*>(operand.data) + offset)
                   : static_cast<const void*>(static_cast<const double*>(operand.data) + offset);
  return moved;
}

GemmOperand rows_of(const MatrixView& a) {
  return {a.data, a.is_float, a.row_stride, a.column_stride};
}

GemmOperand columns_of(const MatrixView& b) {
  return {b.data, b.is_float, b.column_stride, b.row_stride};
}

// How C is cut into pieces that one thread computes on its own, whole sums each.
struct Cut {
  std::int64_t rows = kRowBlock;
  std::int64_t columns = kStripColumns;
  std::int64_t row_blocks = 0;
  std::int64_t strips = 0;
};

// `parts` even pieces of at least `fewest`, if there can be so many.
std::int64_t even(std::int64_t size, std::int64_t parts, std::int64_t fewest) {
  const std::int64_t possible = std::clamp<std::int64_t>(size / fewest, 1, parts);
  return round_up(divide_up(size, possible), kStep);
}

Cut cut_rows(Cut c, std::int64_t m, int threads) {
  c.row_blocks = divide_up(m, c.rows);
  if (threads > 1 && c.strips * c.row_blocks < threads) {
    c.rows = std::min(even(m, threads, kFewestRows), kRowBlock);
    c.row_blocks = divide_up(m, c.rows);
  }
  return c;
}

Cut cut(std::int64_t m, std::int64_t n, int threads) {
  Cut c;
  c.strips = divide_up(n, c.columns);
  if (threads > 1 && c.strips * divide_up(m, c.rows) < 2 * threads) {
    c.columns = std::min(even(n, 2 * threads, kFewestColumns), kStripColumns);
    c.strips = divide_up(n, c.columns);
  }
  return cut_rows(c, m, threads);
}

int threads_for(std::int64_t m, std::int64_t n, std::int64_t k) {
  return work_of(m, n, k) < kParallelWork ? 1 : thread_count();
}

void multiply_block(const GemmKernels& kernels, std::int64_t rows, std::int64_t columns,
                    std::int64_t depth, const double* a, const double* b, double* c,
                    std::int64_t ldc, bool first) {
  kernels.multiply(rows, columns, depth, a, b, c, ldc, first);
}
void multiply_block(const GemmKernels& kernels, std::int64_t rows, std::int64_t columns,
                    std::int64_t depth, const double* a, const SpreadColumns& b, double* c,
                    std::int64_t ldc, bool first) {
  kernels.multiply_spread(rows, columns, depth, a, b, c, ldc, first);
}

// pack_a(i, rows, k0, depth) gives a packed part of A, pack_b(k0, k1, j0, j1, panel) a packed or
// spread one of B.
template <typename PackA, typename PackB>
void multiply_piece(const GemmKernels& kernels, std::int64_t i0, std::int64_t i1, std::int64_t j0,
                    std::int64_t j1, std::int64_t k, const PackA& pack_a, const PackB& pack_b,
                    double* c, std::int64_t ldc) {
  double* const panel = panels().b.get();
  for (std::int64_t k0 = 0; k0 < k; k0 += kGemmDepth) {
    const std::int64_t depth = std::min(k - k0, kGemmDepth);
    const auto b = pack_b(k0, k0 + depth, j0, j1, panel);
    for (std::int64_t i = i0; i < i1; i += kRowsPacked) {
      const std::int64_t rows = std::min(i1 - i, kRowsPacked);
      multiply_block(kernels, rows, j1 - j0, depth, pack_a(i, rows, k0, depth), b, c + i * ldc + j0,
                     ldc, k0 == 0);
    }
  }
}

template <typename PackA, typename PackB>
void multiply_blocked(const GemmKernels& kernels, std::int64_t m, std::int64_t n, std::int64_t k,
                      const Cut& pieces, const PackA& pack_a, const PackB& pack_b, double* c,
                      std::int64_t ldc) {
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t piece = begin; piece < end; ++piece) {
      const std::int64_t i0 = piece / pieces.strips * pieces.rows;
      const std::int64_t j0 = piece % pieces.strips * pieces.columns;
      multiply_piece(kernels, i0, std::min(i0 + pieces.rows, m), j0,
                     std::min(j0 + pieces.columns, n), k, pack_a, pack_b, c, ldc);
    }
  };
  const std::int64_t count = pieces.row_blocks * pieces.strips;
  parallel_for(count, threads_for(m, n, k) == 1 ? count : 1, run);
}

// The product with one strip, of which every thread packs what it needs.
template <typename PackB>
void multiply_strip(const GemmKernels& kernels, const PackedRows& a, std::int64_t n,
                    const PackB& pack_b, double* c, std::int64_t ldc) {
  ASSAY_CHECK(n <= kStripColumns);
  Cut pieces;
  pieces.strips = 1;
  pieces = cut_rows(pieces, a.rows(), threads_for(a.rows(), n, a.terms()));
  const auto packed = [&](std::int64_t i, std::int64_t rows, std::int64_t k0, std::int64_t) {
    return a.panel(i, rows, k0, panels().a.get());
  };
  multiply_blocked(kernels, a.rows(), n, a.terms(), pieces, packed, pack_b, c, ldc);
}

// The k elements of the one row or column x, contiguous and in double.
const double* contiguous(std::int64_t k, const GemmOperand& x, std::vector<double>& storage) {
  if (!x.is_float && x.k_stride == 1) return static_cast<const double*>(x.data);
  double* to = panels().b.get();
  if (k > kStripColumns * kGemmDepth) {
    storage.resize(static_cast<std::size_t>(k));
    to = storage.data();
  }
  for (std::int64_t i = 0; i < k; ++i) {
    to[i] = x.is_float ? static_cast<const float*>(x.data)[i * x.k_stride]
                       : static_cast<const double*>(x.data)[i * x.k_stride];
  }
  return to;
}

// y[j * y_stride] = sum over k of x(k) matrix(j, k).
void multiply_vector(const GemmKernels& kernels, std::int64_t n, std::int64_t k,
                     const GemmOperand& x, const GemmOperand& matrix, double* y,
                     std::int64_t y_stride) {
  std::vector<double> storage;
  const double* const xs = contiguous(k, x, storage);
  if (work_of(1, n, k) < kParallelVectorWork) {
    kernels.vector_multiply(n, k, xs, matrix, y, y_stride);
    return;
  }
  const auto grain = static_cast<std::int64_t>(kParallelVectorWork / static_cast<double>(k));
  parallel_for(n, round_up(grain, 64), [&](std::int64_t j0, std::int64_t j1) {
    kernels.vector_multiply(j1 - j0, k, xs, at(matrix, j0, 0), y + j0 * y_stride, y_stride);
  });
}

bool has_unit_stride(const GemmOperand& matrix) {
  return matrix.outer_stride == 1 || matrix.k_stride == 1;
}

// True if there is nothing to add; C is zero then.
bool fill_if_no_terms(std::int64_t m, std::int64_t n, std::int64_t k, double* c, std::int64_t ldc) {
  ASSAY_CHECK(m >= 0 && n >= 0 && k >= 0);
  ASSAY_CHECK(m <= 1 || ldc >= n);
  if (m == 0 || n == 0) return true;
  if (k > 0) return false;
  for (std::int64_t i = 0; i < m; ++i) std::fill_n(c + i * ldc, n, 0.0);
  return true;
}

}  // namespace

void gemm(std::int64_t m, std::int64_t n, std::int64_t k, const MatrixView& a, const MatrixView& b,
          double* c, std::int64_t ldc) {
  if (fill_if_no_terms(m, n, k, c, ldc)) return;
  const GemmKernels& kernels = current_kernels();
  const GemmOperand rows = rows_of(a);
  const GemmOperand columns = columns_of(b);
  if (work_of(m, n, k) <= kTinyWork) {
    kernels.tiny(m, n, k, rows, columns, c, ldc);
  } else if (m == 1 && has_unit_stride(columns)) {
    multiply_vector(kernels, n, k, rows, columns, c, 1);
  } else if (n == 1 && has_unit_stride(rows)) {
    multiply_vector(kernels, m, k, columns, rows, c, ldc);
  } else {
    const auto pack_a = [&](std::int64_t i, std::int64_t height, std::int64_t k0,
                            std::int64_t depth) {
      double* const panel = panels().a.get();
      kernels.pack_rows(at(rows, i, k0), height, depth, panel);
      return panel;
    };
    const auto pack_b = [&](std::int64_t k0, std::int64_t k1, std::int64_t j0, std::int64_t j1,
                            double* panel) {
      kernels.pack_columns(at(columns, j0, k0), j1 - j0, k1 - k0, panel);
      return static_cast<const double*>(panel);
    };
    multiply_blocked(kernels, m, n, k, cut(m, n, threads_for(m, n, k)), pack_a, pack_b, c, ldc);
  }
}

PackedRows::PackedRows(std::int64_t m, std::int64_t k, const MatrixView& a)
    : m_(m), k_(k), padded_(round_up(m, current_kernels().rows)), width_(current_kernels().rows) {
  panels_ = Tensor::uninitialized(ElementType::f64, {padded_ * k});
  double* const to = panels_.mutate<double>().data();
  // Whole rows of A at a time, as they lie in memory.
  const GemmKernels& kernels = current_kernels();
  const std::int64_t grain = kPackingGrain / std::max<std::int64_t>(1, k * kernels.rows) + 1;
  parallel_for(padded_ / kernels.rows, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t sliver = begin; sliver < end; ++sliver) {
      const std::int64_t i = sliver * kernels.rows, height = std::min(m - i, kernels.rows);
      for (std::int64_t k0 = 0; k0 < k; k0 += kGemmDepth) {
        const std::int64_t depth = std::min(k - k0, kGemmDepth);
        kernels.pack_rows(at(rows_of(a), i, k0), height, depth, to + k0 * padded_ + i * depth);
      }
    }
  });
}

PackedRows PackedRows::magnitudes() const {
  PackedRows result = *this;
  result.magnitudes_ = true;
  return result;
}

const double* PackedRows::panel(std::int64_t i, std::int64_t rows, std::int64_t k0,
                                double* room) const {
  const std::int64_t depth = std::min(k_ - k0, kGemmDepth);
  const double* const from = panels_.data<double>().data() + k0 * padded_ + i * depth;
  if (!magnitudes_) return from;
  const std::int64_t count = round_up(rows, width_) * depth;
  with_widest_vectors([=] {
    for (std::int64_t k = 0; k < count; ++k) room[k] = std::abs(from[k]);
  });
  return room;
}

void gemm(const PackedRows& a, std::int64_t n, const MatrixView& b, double* c, std::int64_t ldc) {
  if (fill_if_no_terms(a.rows(), n, a.terms(), c, ldc)) return;
  const GemmKernels& kernels = current_kernels();
  const GemmOperand columns = columns_of(b);
  const auto pack = [&](std::int64_t k0, std::int64_t k1, std::int64_t j0, std::int64_t j1,
                        double* panel) {
    kernels.pack_columns(at(columns, j0, k0), j1 - j0, k1 - k0, panel);
    return static_cast<const double*>(panel);
  };
  multiply_strip(kernels, a, n, pack, c, ldc);
}

void gemm_packed(const PackedRows& a, std::int64_t n, const PackColumns& pack_b, double* c,
                 std::int64_t ldc) {
  if (fill_if_no_terms(a.rows(), n, a.terms(), c, ldc)) return;
  const GemmKernels& kernels = current_kernels();
  const auto pack = [&](std::int64_t k0, std::int64_t k1, std::int64_t, std::int64_t,
                        double* panel) {
    pack_b(k0, k1, kernels.columns, panel);
    return static_cast<const double*>(panel);
  };
  multiply_strip(kernels, a, n, pack, c, ldc);
}

void gemm_spread(const PackedRows& a, std::int64_t n, const SpreadRows& b, double* c,
                 std::int64_t ldc) {
  if (fill_if_no_terms(a.rows(), n, a.terms(), c, ldc)) return;
  const auto given = [&](std::int64_t k0, std::int64_t k1, std::int64_t, std::int64_t, double*) {
    return b(k0, k1);
  };
  multiply_strip(current_kernels(), a, n, given, c, ldc);
}

}  // namespace assay

// The matrix whose columns are patches, tile by tile. For patches.cpp and patches_rows.cpp.
#pragma once

#include <algorithm>
#include <vector>

#include "patterns/patches.h"
#include "patterns/row_kernels.h"

namespace assay {

// Neighbouring outputs along the last axis, inside of one tile.
struct PatchRun {
  std::int64_t start;  // of the batch and group in x
  std::int64_t at;     // first column in the tile
  std::int64_t count;
  std::int64_t first;  // o * step of the first output along the last axis
};

// What a tile reads, as far as it does not depend on the channel. Kept by a thread from tile to
// tile.
struct PatchTile {
  std::vector<PatchRun> runs;
  std::vector<std::int64_t> index;        // of a run along the leading axes
  std::vector<std::int64_t> row_offsets;  // by leading taps and run; -1 outside
  std::vector<std::int64_t> bounds;       // by last tap and run: the outputs that lie inside
};

void lay_out(const Patches& p, std::int64_t group, std::int64_t j0, std::int64_t j1,
             PatchTile& tile);

inline void copy_patch(const float* from, std::int64_t count, double* to) {
  row_kernels().widen(from, count, to);
}
template <class T>
void copy_patch(const T* from, std::int64_t count, T* to) {
  std::copy_n(from, count, to);
}

// Element (k, j) for k in [k0, k1) and the columns of the tile to out[(k - k0) * stride + column].
// Row k of the matrix is one tap of one channel, column j one output of one batch.
template <class From, class To>
void fill_patches(const Patches& p, const From* x, const PatchTile& tile, std::int64_t k0,
                  std::int64_t k1, To* out, std::int64_t stride) {
  if (k0 >= k1) return;
  const PatchAxis& inner = p.axes.back();
  const auto taps = static_cast<std::int64_t>(inner.offsets.size());
  const auto runs = static_cast<std::int64_t>(tile.runs.size());
  const std::int64_t leading = p.terms() / p.channels / taps;
  const std::int64_t plane = p.plane();
  for (std::int64_t k = k0; k < k1; ++k, out += stride) {
    const std::int64_t tap = k % taps, rest = k / taps;
    const From* const channel = x + rest / leading * plane;
    const std::int64_t* const rows = tile.row_offsets.data() + rest % leading * runs;
    const std::int64_t* const bounds = tile.bounds.data() + tap * runs * 2;
    const std::int64_t offset = inner.offsets[static_cast<std::size_t>(tap)];
    for (std::int64_t r = 0; r < runs; ++r) {
      const PatchRun& run = tile.runs[static_cast<std::size_t>(r)];
      To* const to = out + run.at;
      const std::int64_t lo = rows[r] < 0 ? run.count : bounds[2 * r], hi = bounds[2 * r + 1];
      for (std::int64_t i = 0; i < lo; ++i) to[i] = To();
      if (lo >= hi) {
        for (std::int64_t i = lo; i < run.count; ++i) to[i] = To();
        continue;
      }
      const From* from = channel + run.start + rows[r] + run.first + offset;
      if (inner.step == 1)
        copy_patch(from + lo, hi - lo, to + lo);
      else
        for (std::int64_t i = lo; i < hi; ++i) to[i] = static_cast<To>(from[i * inner.step]);
      for (std::int64_t i = hi; i < run.count; ++i) to[i] = To();
    }
  }
}

// Convolutions with few maps: each sum runs over whole rows instead of through a matrix product.
void convolve_rows(const Patches& p, const Elements& x, const Elements& w, const PatchSink& sink);

}  // namespace assay

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
  const RowKernels* kernels = nullptr;
};

void lay_out(const Patches& p, std::int64_t group, std::int64_t j0, std::int64_t j1,
             PatchTile& tile);

// `count` elements, `step` apart, reading none behind the last.
inline void copy_patch(const RowKernels& k, const float* from, std::int64_t step,
                       std::int64_t count, double* to) {
  if (step == 1) return k.widen(from, count, to);
  if (step == 2) return k.widen_every_second(from, count, to);
  for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * step];
}
template <class T>
void copy_patch(const RowKernels&, const T* from, std::int64_t step, std::int64_t count, T* to) {
  if (step == 1)
    std::copy_n(from, count, to);
  else
    for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * step];
}

// Element (k, j) for k in [k0, k1) and the columns of the tile to out[(k - k0) * stride + column].
// Row k of the matrix is one tap of one channel, column j one output of one batch. Elements are
// copied by copy(from, step, count, to).
template <class From, class To, class Copy>
inline __attribute__((always_inline)) void fill_patches_by(const Copy& copy, const Patches& p,
                                                           const From* x, const PatchTile& tile,
                                                           std::int64_t k0, std::int64_t k1,
                                                           To* out, std::int64_t stride) {
  if (k0 >= k1) return;
  const PatchAxis& inner = p.axes.back();
  const auto taps = static_cast<std::int64_t>(inner.offsets.size());
  const auto runs = static_cast<std::int64_t>(tile.runs.size());
  const std::int64_t leading = p.terms() / p.channels / taps, plane = p.plane();
  std::int64_t tap = k0 % taps, row = k0 / taps % leading;
  const From* channel = x + k0 / taps / leading * plane;
  for (std::int64_t k = k0; k < k1; ++k, out += stride) {
    const std::int64_t* const rows = tile.row_offsets.data() + row * runs;
    const std::int64_t* const bounds = tile.bounds.data() + tap * runs * 2;
    const std::int64_t offset = inner.offsets[static_cast<std::size_t>(tap)];
    for (std::int64_t r = 0; r < runs; ++r) {
      const PatchRun& run = tile.runs[static_cast<std::size_t>(r)];
      To* const to = out + run.at;
      const std::int64_t lo = rows[r] < 0 ? run.count : bounds[2 * r];
      const std::int64_t hi = std::max(lo, bounds[2 * r + 1]);
      for (std::int64_t i = 0; i < lo; ++i) to[i] = To();
      if (lo < hi)
        copy(channel + run.start + rows[r] + run.first + offset + lo * inner.step, inner.step,
             hi - lo, to + lo);
      for (std::int64_t i = hi; i < run.count; ++i) to[i] = To();
    }
    if (++tap < taps) continue;
    tap = 0;
    if (++row < leading) continue;
    row = 0;
    channel += plane;
  }
}

template <class From, class To>
void fill_patches(const Patches& p, const From* x, const PatchTile& tile, std::int64_t k0,
                  std::int64_t k1, To* out, std::int64_t stride) {
  const auto copy = [&](const From* from, std::int64_t step, std::int64_t count, To* to) {
    copy_patch(*tile.kernels, from, step, count, to);
  };
  fill_patches_by(copy, p, x, tile, k0, k1, out, stride);
}

// Convolutions with few maps: each sum runs over whole rows instead of through a matrix product.
void convolve_rows(const Patches& p, const Elements& x, const Elements& w, const PatchSink& sink);

}  // namespace assay

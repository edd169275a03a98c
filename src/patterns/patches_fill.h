// The matrix whose columns are patches, and the rows of an image that it is made of. For
// patches.cpp, patches_packed.cpp and patches_rows.cpp.
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

// The form in which a row of a channel is kept in double for the outputs [first, first + count)
// along the last axis: padded with zeros, and split by the remainders of the step (phases), so that
// neighbouring outputs read neighbouring elements whatever the step is.
class PatchRow {
 public:
  PatchRow(const PatchAxis& inner, std::int64_t first, std::int64_t count);

  std::int64_t length() const { return phases_ * phase_length_; }
  // Where the elements begin that each tap reads.
  const std::vector<std::int64_t>& starts() const { return starts_; }

  template <class T>
  void read(const RowKernels& kernels, const T* from, double* to) const;

 private:
  std::int64_t extent_, step_, least_, phases_, phase_length_;
  std::vector<std::int64_t> starts_;
};

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
// Row k of the matrix is one tap of one channel, column j one output of one batch.
template <class S>
void fill_patches(const Patches& p, const S* x, const PatchTile& tile, std::int64_t k0,
                  std::int64_t k1, S* out, std::int64_t stride) {
  if (k0 >= k1) return;
  const PatchAxis& inner = p.axes.back();
  const auto taps = static_cast<std::int64_t>(inner.offsets.size());
  const auto runs = static_cast<std::int64_t>(tile.runs.size());
  const std::int64_t leading = p.terms() / p.channels / taps, plane = p.plane();
  std::int64_t tap = k0 % taps, row = k0 / taps % leading;
  const S* channel = x + k0 / taps / leading * plane;
  for (std::int64_t k = k0; k < k1; ++k, out += stride) {
    const std::int64_t* const rows = tile.row_offsets.data() + row * runs;
    const std::int64_t* const bounds = tile.bounds.data() + tap * runs * 2;
    const std::int64_t offset = inner.offsets[static_cast<std::size_t>(tap)];
    for (std::int64_t r = 0; r < runs; ++r) {
      const PatchRun& run = tile.runs[static_cast<std::size_t>(r)];
      S* const to = out + run.at;
      const std::int64_t lo = rows[r] < 0 ? run.count : bounds[2 * r];
      const std::int64_t hi = std::max(lo, bounds[2 * r + 1]);
      for (std::int64_t i = 0; i < lo; ++i) to[i] = S();
      if (lo < hi)
        copy_patch(*tile.kernels,
                   channel + run.start + rows[r] + run.first + offset + lo * inner.step, inner.step,
                   hi - lo, to + lo);
      for (std::int64_t i = hi; i < run.count; ++i) to[i] = S();
    }
    if (++tap < taps) continue;
    tap = 0;
    if (++row < leading) continue;
    row = 0;
    channel += plane;
  }
}

template <class T>
void PatchRow::read(const RowKernels& kernels, const T* from, double* to) const {
  for (std::int64_t phase = 0; phase < phases_; ++phase, to += phase_length_) {
    const std::int64_t first = phase + least_, room = extent_ - first;
    const std::int64_t lo = std::min(phase_length_, first >= 0 ? 0 : (-first + step_ - 1) / step_);
    const std::int64_t hi = std::clamp((room + step_ - 1) / step_, lo, phase_length_);
    for (std::int64_t i = 0; i < lo; ++i) to[i] = 0;
    if (lo < hi) copy_patch(kernels, from + first + lo * step_, step_, hi - lo, to + lo);
    for (std::int64_t i = hi; i < phase_length_; ++i) to[i] = 0;
  }
}

// Every output reads just the element at its own place.
bool is_pointwise(const Patches& p);

// Convolutions as matrix products, strip by strip.
void convolve_packed(const Patches& p, const Elements& x, const Elements& w, const PatchSink& sink,
                     PackedWeights* kept);
void convolve_packed_twice(const Patches& p, const Elements& x, const Elements& w,
                           const MagnitudeSink& sink, PackedWeights* kept);
// Those with few maps: each sum runs over whole rows instead.
void convolve_rows(const Patches& p, const Elements& x, const Elements& w, const PatchSink& sink);

}  // namespace assay

// How the elements of a region are copied: long runs where both sides have them, tiles where the
// axes trade places, in parallel where it pays.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/parallel.h"
#include "patterns/move.h"

namespace assay {

// Without axes of extent 1, and with neighbouring axes merged that both sides step through evenly.
Region simplified(const Region& region);

// Elements below which a copy stays on one thread.
inline constexpr std::int64_t kParallelCopy = std::int64_t{1} << 16;

namespace copy_detail {

// One axis of a region.
struct Line {
  std::int64_t extent, from_stride, to_stride;
};

// A region as the axes that are walked element by element, one or two, and those around them.
struct Walk {
  InlineVector<Line, 4> outer;
  Line rows{1, 0, 0}, columns{1, 0, 0};
};
Walk plan_walk(const Region& region);

template <class T>
void copy_line(const T* from, T* to, const Line& x) {
  if (x.from_stride == 1 && x.to_stride == 1) {
    std::copy(from, from + x.extent, to);
  } else if (x.from_stride == 0 && x.to_stride == 1) {
    std::fill(to, to + x.extent, *from);
  } else if (x.to_stride == 1) {
    for (std::int64_t i = 0; i < x.extent; ++i) to[i] = from[i * x.from_stride];
  } else {
    for (std::int64_t i = 0; i < x.extent; ++i) to[i * x.to_stride] = from[i * x.from_stride];
  }
}

// The input runs along the rows and the output along the columns: tile by tile through a buffer, so
// that each line of memory is touched once, also where lines that are far apart share a place in
// the cache.
template <class T>
void copy_tiles(const T* from, T* to, const Line& rows, const Line& columns) {
  constexpr std::int64_t kTile = 16;
  T tile[kTile * kTile];
  for (std::int64_t r0 = 0; r0 < rows.extent; r0 += kTile) {
    const std::int64_t height = std::min(kTile, rows.extent - r0);
    for (std::int64_t c0 = 0; c0 < columns.extent; c0 += kTile) {
      const std::int64_t width = std::min(kTile, columns.extent - c0);
      for (std::int64_t c = 0; c < width; ++c) {
        const T* source = from + r0 + (c0 + c) * columns.from_stride;
        for (std::int64_t r = 0; r < height; ++r) tile[r * kTile + c] = source[r];
      }
      for (std::int64_t r = 0; r < height; ++r)
        std::copy(tile + r * kTile, tile + r * kTile + width, to + (r0 + r) * rows.to_stride + c0);
    }
  }
}

template <class T>
void copy_walk(const Walk& walk, const T* from, T* to) {
  Shape index(walk.outer.size());
  while (true) {
    if (walk.rows.extent == 1) {
      copy_line(from, to, walk.columns);
    } else {
      copy_tiles(from, to, walk.rows, walk.columns);
    }
    std::size_t d = walk.outer.size();
    while (true) {
      if (d == 0) return;
      const Line& line = walk.outer[--d];
      from += line.from_stride;
      to += line.to_stride;
      if (++index[d] < line.extent) break;
      from -= line.extent * line.from_stride;
      to -= line.extent * line.to_stride;
      index[d] = 0;
    }
  }
}

}  // namespace copy_detail

// Copies a simplified region; `from` and `to` are the first elements of input and output.
template <class T>
void copy_region(const Region& region, const T* from, T* to) {
  using copy_detail::copy_walk, copy_detail::plan_walk;
  std::int64_t count = 1;
  for (std::int64_t extent : region.extents) count *= extent;
  if (count == 0) return;
  if (count < kParallelCopy)
    return copy_walk(plan_walk(region), from + region.from, to + region.to);
  const std::int64_t grain =
      std::max<std::int64_t>(1, kParallelCopy / 2 / (count / region.extents[0]));
  parallel_for(region.extents[0], grain, [&](std::int64_t begin, std::int64_t end) {
    Region piece = region;
    piece.extents[0] = end - begin;
    piece.from += begin * piece.from_strides[0];
    piece.to += begin * piece.to_strides[0];
    copy_walk(plan_walk(piece), from + piece.from, to + piece.to);
  });
}

}  // namespace assay

// Folding of windows: the rows that a window spans are joined first, then the windows along the
// last axis, each a few passes over contiguous memory.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "patterns/row_kernels.h"
#include "patterns/window.h"
#include "tensor/convert.h"

namespace assay {
namespace {

// Taps along the last axis, where a row is kept split by remainders of the stride (phases), so
// that neighbouring windows read neighbouring elements.
struct Tap {
  std::int64_t begin, end;  // the windows that have this tap inside
  std::int64_t from;        // where in the split row window `begin` reads
};

struct Layout {
  std::vector<Tap> taps;
  std::vector<std::int64_t> phase_starts;  // in the split row
  std::vector<std::int64_t> insides, paddeds;
  std::int64_t width, outputs, stride;
};

Layout layout_of(const WindowGeometry& g) {
  const std::size_t last = g.extents.size() - 1;
  Layout result;
  result.width = g.extents[last];
  result.outputs = g.outputs[last];
  result.stride = std::min(g.strides[last], std::max<std::int64_t>(result.width, 1));
  if (result.outputs == 1) result.stride = 1;
  const std::int64_t s = result.stride;
  for (std::int64_t phase = 0, start = 0; phase < s; ++phase) {
    result.phase_starts.push_back(start);
    start += (result.width - phase + s - 1) / s;
  }
  std::int64_t first_place = std::numeric_limits<std::int64_t>::max(), last_place = -1;
  for (std::int64_t o = 0; o < result.outputs; ++o) {
    const WindowSpan span = window_span(g, last, o);
    result.insides.push_back(span.inside);
    result.paddeds.push_back(span.covered);
    if (span.inside == 0) continue;
    // In steps of the dilation from this window's start.
    const std::int64_t start = o * g.strides[last] - g.pads_begin[last];
    const std::int64_t tap = (span.position - start) / g.dilations[last];
    first_place = std::min(first_place, tap);
    last_place = std::max(last_place, tap + span.inside - 1);
  }
  for (std::int64_t t = first_place; t <= last_place; ++t) {
    const std::int64_t offset = t * g.dilations[last] - g.pads_begin[last];
    Tap tap{0, 0, 0};
    tap.begin = offset >= 0 ? 0 : (-offset + g.strides[last] - 1) / g.strides[last];
    tap.end = offset >= result.width
                  ? 0
                  : std::min(result.outputs, (result.width - 1 - offset) / g.strides[last] + 1);
    if (tap.begin >= tap.end) continue;
    const std::int64_t position = tap.begin * g.strides[last] + offset;
    tap.from = result.phase_starts[static_cast<std::size_t>(position % s)] + position / s;
    result.taps.push_back(tap);
  }
  return result;
}

template <class A>
void split(const A* row, const Layout& layout, A* out) {
  for (std::int64_t phase = 0; phase < layout.stride; ++phase)
    for (std::int64_t i = phase; i < layout.width; i += layout.stride) *out++ = row[i];
}

// One row of windows: `joined` is the row over which they slide.
template <class A, class Join>
void slide(const Layout& layout, const A* joined, std::vector<A>& scratch, A* out, Join join) {
  if (layout.stride > 1) {
    scratch.resize(static_cast<std::size_t>(layout.width));
    split(joined, layout, scratch.data());
    joined = scratch.data();
  }
  for (const Tap& tap : layout.taps) join(joined + tap.from, tap.end - tap.begin, out + tap.begin);
}

// Calls row(output row, inside, padded, offsets of the rows that it spans) over the leading axes.
template <class Row>
void for_rows_of_windows(const WindowGeometry& g, const Row& row) {
  const std::size_t outer = g.extents.size() - 1;
  const std::vector<std::int64_t> strides = strides_of(g.extents);
  std::vector<std::int64_t> at(outer), offsets, next;
  std::int64_t rows = 1;
  for (std::size_t d = 0; d < outer; ++d) rows *= g.outputs[d];
  for (std::int64_t r = 0; r < rows; ++r) {
    offsets.assign(1, 0);
    std::int64_t inside = 1, padded = 1;
    for (std::size_t d = 0; d < outer; ++d) {
      const WindowSpan span = window_span(g, d, at[d]);
      inside *= span.inside;
      padded *= span.covered;
      next.clear();
      for (std::int64_t base : offsets)
        for (std::int64_t t = 0; t < span.inside; ++t)
          next.push_back(base + (span.position + t * g.dilations[d]) * strides[d]);
      offsets.swap(next);
    }
    row(r, inside, padded, offsets);
    for (std::size_t d = outer; d-- > 0;) {
      if (++at[d] < g.outputs[d]) break;
      at[d] = 0;
    }
  }
}

template <class T>
void max_row(const T* x, std::int64_t count, T* acc) {
  if constexpr (std::is_same_v<T, float>)
    row_kernels().max_floats(x, count, acc);
  else if constexpr (std::is_same_v<T, double>)
    row_kernels().max_doubles(x, count, acc);
  else
    for (std::int64_t j = 0; j < count; ++j) acc[j] = std::max(acc[j], x[j]);
}

template <class T>
void fold_maximum(const T* x, const WindowGeometry& g, const Layout& layout, T* y) {
  const T lowest = std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                               : std::numeric_limits<T>::lowest();
  std::vector<T> joined(static_cast<std::size_t>(layout.width)), scratch;
  for_rows_of_windows(
      g, [&](std::int64_t r, std::int64_t, std::int64_t, const std::vector<std::int64_t>& offsets) {
        T* out = y + r * layout.outputs;
        std::fill_n(out, layout.outputs, lowest);
        if (offsets.empty()) return;
        const T* row = x + offsets[0];
        if (offsets.size() > 1) {
          std::copy_n(row, layout.width, joined.data());
          row = joined.data();
        }
        for (std::size_t i = 1; i < offsets.size(); ++i)
          max_row(x + offsets[i], layout.width, joined.data());
        slide(layout, row, scratch, out, max_row<T>);
      });
}

template <class T>
void add_row(Fold fold, const T* x, std::int64_t count, double* acc) {
  if (fold == Fold::sum_of_absolutes) {
    for (std::int64_t j = 0; j < count; ++j) acc[j] += std::abs(static_cast<double>(x[j]));
  } else if (fold == Fold::sum_of_squares) {
    for (std::int64_t j = 0; j < count; ++j)
      acc[j] += static_cast<double>(x[j]) * static_cast<double>(x[j]);
  } else if constexpr (std::is_same_v<T, float>) {
    row_kernels().add_floats(x, count, acc);
  } else {
    row_kernels().add_doubles(x, count, acc);
  }
}

template <class T>
void fold_sum(const T* x, const WindowGeometry& g, const Layout& layout, Fold fold,
              const std::function<void(const FoldedRow&)>& finish, ElementType type, T* y) {
  std::vector<double> joined(static_cast<std::size_t>(layout.width)), scratch;
  std::vector<double> sums(static_cast<std::size_t>(layout.outputs));
  for_rows_of_windows(g, [&](std::int64_t r, std::int64_t inside, std::int64_t padded,
                             const std::vector<std::int64_t>& offsets) {
    std::fill(joined.begin(), joined.end(), 0.0);
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::int64_t offset : offsets) add_row(fold, x + offset, layout.width, joined.data());
    slide(layout, static_cast<const double*>(joined.data()), scratch, sums.data(),
          row_kernels().add_doubles);
    finish({sums, inside, padded, layout.insides.data(), layout.paddeds.data()});
    from_doubles(type, sums.data(), layout.outputs, y + r * layout.outputs);
  });
}

}  // namespace

bool can_fold(const Tensor& x, Fold fold) {
  const Storage storage = storage_of(x.type());
  if (storage == Storage::f32 || storage == Storage::f64) return true;
  return fold == Fold::maximum && (x.type() == ElementType::i8 || x.type() == ElementType::u8);
}

Tensor fold_windows(const Tensor& x, const WindowGeometry& g, Fold fold, const Shape& shape,
                    const std::function<void(const FoldedRow&)>& finish) {
  Tensor y = Tensor::uninitialized(x.type(), shape);
  const std::int64_t channels = shape[0] * shape[1];
  const std::int64_t in_size = element_count(g.extents), out_size = element_count(g.outputs);
  const Layout layout = layout_of(g);
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 15) / std::max(in_size, out_size));
  visit_storage(x.type(), [&]<class T>(T*) {
    if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, std::int8_t> ||
                  std::is_same_v<T, std::uint8_t>) {
      const T* from = x.data<T>().data();
      T* to = y.mutate<T>().data();
      parallel_for(channels, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t c = begin; c < end; ++c) {
          if (fold == Fold::maximum)
            fold_maximum(from + c * in_size, g, layout, to + c * out_size);
          else if constexpr (std::is_floating_point_v<T>)
            fold_sum(from + c * in_size, g, layout, fold, finish, x.type(), to + c * out_size);
        }
      });
    }
  });
  return y;
}

}  // namespace assay

// Reduce and Rowwise: a body over the elements along some axes, taken as one row.
#pragma once

#include <span>
#include <vector>

#include "patterns/compute.h"

namespace assay {

// Where the rows of a tensor lie: row r starts at starts[r], its elements at the offsets.
struct RowLayout {
  std::vector<std::int64_t> starts;   // in row-major order of the axes that stay
  std::vector<std::int64_t> offsets;  // in row-major order of the axes of a row
  bool contiguous = false;            // row r is elements [r*length, (r+1)*length)
};
RowLayout row_layout(const Shape& shape, std::span<const std::int64_t> axes);

// Normalised axes along which the rows of a call run.
using AxesOf = std::vector<std::int64_t> (*)(const Call&);

template <class S>
std::span<const S> row_of(const Array<S>& x, const RowLayout& layout, std::size_t r,
                          std::vector<S>& buffer) {
  const std::size_t length = layout.offsets.size();
  if (layout.contiguous) return {x.data.data() + r * length, length};
  buffer.resize(length);
  for (std::size_t i = 0; i < length; ++i) buffer[i] = x[layout.starts[r] + layout.offsets[i]];
  return buffer;
}

void for_rows(std::int64_t rows, std::int64_t length,
              const std::function<void(std::int64_t begin, std::int64_t end)>& body);

// Body: template <class S> S operator()(std::span<const S> row) const
template <class Body, AxesOf axes>
struct ReduceRows {
  Body body;
  explicit ReduceRows(const Call& call) : body(elementwise_detail::make_body<Body>(call)) {}

  template <class S>
  void operator()(Frame<S>& frame) const {
    const Array<S> x = frame.input(0);
    const RowLayout layout = row_layout(x.shape, axes(frame.call()));
    Array<S> y(frame.output_shape(0));
    const Rounding& rules = rounding();
    for_rows(y.size(), static_cast<std::int64_t>(layout.offsets.size()),
             [&](std::int64_t begin, std::int64_t end) {
               const RoundingScope scope(rules);
               std::vector<S> buffer;
               for (std::int64_t r = begin; r < end; ++r)
                 y[r] = body(row_of(x, layout, static_cast<std::size_t>(r), buffer));
             });
    frame.output(0, y);
  }
};

// A row with the vectors of AVX2; the same bits. Flat, because only what is inlined here has them.
template <class Body>
__attribute__((target("avx2"), flatten)) void map_row_wide(const Body& body,
                                                           std::span<const double> x,
                                                           std::span<double> y) {
  body(x, y);
}

// Body: template <class S> void operator()(std::span<const S> x, std::span<S> y) const
template <class Body, AxesOf axes>
struct MapRows {
  Body body;
  explicit MapRows(const Call& call) : body(elementwise_detail::make_body<Body>(call)) {}

  template <class S>
  void operator()(Frame<S>& frame) const {
    Array<S> x = frame.input(0);  // each row is replaced by what it is mapped to
    const RowLayout layout = row_layout(x.shape, axes(frame.call()));
    const std::size_t length = layout.offsets.size();
    const Rounding& rules = rounding();
    const bool wide = elementwise_detail::wide_loops();
    for_rows(static_cast<std::int64_t>(layout.starts.size()), static_cast<std::int64_t>(length),
             [&](std::int64_t begin, std::int64_t end) {
               const RoundingScope scope(rules);
               std::vector<S> buffer, result(length);
               for (std::int64_t r = begin; r < end; ++r) {
                 const auto row = static_cast<std::size_t>(r);
                 map(row_of(x, layout, row, buffer), std::span<S>(result), wide);
                 for (std::size_t i = 0; i < length; ++i)
                   x[layout.starts[row] + layout.offsets[i]] = result[i];
               }
             });
    frame.output(0, x);
  }

 private:
  template <class S>
  void map(std::span<const S> x, std::span<S> y, bool wide) const {
    if constexpr (std::is_same_v<S, double>)
      if (wide) return map_row_wide(body, x, y);
    body(x, y);
  }
};

template <class Body, AxesOf axes, class Kinds = Reals>
Meaning reduce() {
  return compute<ReduceRows<Body, axes>, Kinds>(Pattern::reduce);
}
template <class Body, AxesOf axes, class Kinds = Reals>
Meaning rowwise() {
  return compute<MapRows<Body, axes>, Kinds>(Pattern::rowwise);
}

}  // namespace assay

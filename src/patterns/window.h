// Windowed: a body over the elements that a sliding window touches.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "patterns/compute.h"

namespace assay {

// Where the windows of a pooling operator or a convolution lie, one entry a spatial axis.
struct WindowGeometry {
  Shape kernel, strides, dilations, pads_begin, pads_end;  // pads_end as given, before ceil_mode
  Shape extents;                                           // spatial extents of the input
  Shape outputs;                                           // spatial extents of the output
};

// Windows from the attributes kernel_shape, strides, dilations, pads, auto_pad and ceil_mode, which
// pooling operators and convolutions share. `spatial` may have unknown extents; so then have the
// outputs.
struct WindowAttributes {
  Shape kernel, strides, dilations, pads;
  std::string auto_pad;
  bool ceil_mode = false;
};
WindowAttributes window_attributes(const Site& site, std::size_t spatial_rank);
// Positions and sums of positions stay below this, so that none overflows.
inline constexpr std::int64_t kWindowLimit = std::int64_t{1} << 48;
// Whether every number is positive (pads: not negative) and below the limit, a dilated kernel too.
bool in_window_limits(const WindowAttributes& a);
// The output extent along axis `d`; unknown if the input's is. Not positive where no window fits.
// For attributes within the limits.
Dim window_output(const WindowAttributes& a, std::size_t d, const Dim& input);
WindowGeometry window_geometry(const WindowAttributes& a, const Shape& spatial);

// One window along one axis. Its taps inside of the input are at `position`, position + dilation,
// …; `covered` of all its taps lie inside of the padded input.
struct WindowSpan {
  std::int64_t position, inside, covered;
};
WindowSpan window_span(const WindowGeometry& g, std::size_t axis, std::int64_t output);

// What a window covers: elements of one channel, and how many places it has with the padding
// counted (a window that ceil_mode lets hang over the padding counts only what lies inside of it).
template <class S>
struct Window {
  std::span<const S> inside;
  std::span<const std::int64_t> places;  // offsets of the elements in the channel, row-major
  std::int64_t padded_size;
};

// Calls visit(output offset, places, padded size) for each window of one channel.
void for_windows(
    const WindowGeometry& geometry,
    const std::function<void(std::int64_t, std::span<const std::int64_t>, std::int64_t)>& visit);

// A reduction that can take its elements in any order: rows are joined element by element before
// the windows along the last axis are.
enum class Fold : std::uint8_t { maximum, sum, sum_of_absolutes, sum_of_squares };

// Sums of one row of windows, to be turned into results in place. Window j has inside * insides[j]
// elements, padded * paddeds[j] with the padding counted.
struct FoldedRow {
  std::span<double> values;
  double inside, padded;
  const double *insides, *paddeds;
};

// The folds of all windows of all channels of x (N x C x …), reading stored elements. `finish` is
// for sums; a maximum is as it is, and an integer's of nothing is its type's smallest number.
Tensor fold_windows(const Tensor& x, const WindowGeometry& geometry, Fold fold, const Shape& shape,
                    const std::function<void(const FoldedRow&)>& finish);
bool can_fold(const Tensor& x, Fold fold);  // whether that is written for the type

// Body: made from the call if it can be, with
//   template <class S> S operator()(const Window<S>& window) const
// and, if values can be had by folding,
//   std::optional<Fold> fold() const
//   void finish(const FoldedRow& row) const
template <class Body>
struct PoolWindows {
  Body body;
  explicit PoolWindows(const Call& call) : body(elementwise_detail::make_body<Body>(call)) {}

  template <class S>
  void operator()(Frame<S>& frame) const {
    const Shape& shape = frame.shape(0);
    const Shape spatial(shape.begin() + 2, shape.end());
    const WindowGeometry geometry =
        window_geometry(window_attributes(frame.site(), spatial.size()), spatial);
    if constexpr (std::is_arithmetic_v<S> && requires { body.fold(); }) {
      const Tensor& x = frame.call().input(0).tensor();
      const std::optional<Fold> fold = body.fold();
      if (fold && can_fold(x, *fold)) {
        const auto finish = [this](const FoldedRow& row) { body.finish(row); };
        return frame.output(0, fold_windows(x, geometry, *fold, frame.output_shape(0), finish));
      }
    }
    visit_each(frame, geometry);
  }

 private:
  template <class S>
  void visit_each(Frame<S>& frame, const WindowGeometry& geometry) const {
    Array<S> y(frame.output_shape(0));
    const Array<S> x = frame.input(0);
    const std::int64_t channels = x.shape[0] * x.shape[1];
    const std::int64_t in_size = element_count(geometry.extents);
    const std::int64_t out_size = element_count(geometry.outputs);
    std::vector<S> inside;
    for_windows(geometry,
                [&](std::int64_t at, std::span<const std::int64_t> places, std::int64_t size) {
                  for (std::int64_t c = 0; c < channels; ++c) {
                    inside.clear();
                    for (std::int64_t place : places) inside.push_back(x[c * in_size + place]);
                    y[c * out_size + at] = body(Window<S>{inside, places, size});
                  }
                });
    frame.output(0, y);
  }
};

template <class Body, class Kinds = Reals>
Meaning windowed() {
  return compute<PoolWindows<Body>, Kinds>(Pattern::windowed);
}

}  // namespace assay

// Windowed: a body over the elements that a sliding window touches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "patterns/compute.h"

namespace assay {

// Where the windows of a pooling operator lie, one entry a spatial axis.
struct WindowGeometry {
  Shape kernel, strides, dilations, pads_begin, pads_end;  // pads_end as given, before ceil_mode
  Shape extents;                                           // spatial extents of the input
  Shape outputs;                                           // spatial extents of the output
};

// Windows from the attributes kernel_shape, strides, dilations, pads, auto_pad and ceil_mode, which
// all pooling operators share. `spatial` may have unknown extents; so then have the outputs.
struct WindowAttributes {
  std::vector<std::int64_t> kernel, strides, dilations, pads;
  std::string auto_pad;
  bool ceil_mode = false;
};
WindowAttributes window_attributes(const Site& site, std::size_t spatial_rank);
// The output extent along axis `d`; unknown if the input's is. Negative where the window does not fit.
Dim window_output(const WindowAttributes& a, std::size_t d, const Dim& input);
WindowGeometry window_geometry(const WindowAttributes& a, const Shape& spatial);

// What a window covers: elements of one channel, and how many places it has with the padding
// counted (a window that ceil_mode lets hang over the padding counts only what lies inside of it).
template <class S>
struct Window {
  std::span<const S> inside;
  std::span<const std::int64_t> places;  // offsets of the elements in the channel, row-major
  std::int64_t padded_size;
};

// Calls visit(output offset, places, padded size) for each window of one channel.
void for_windows(const WindowGeometry& geometry,
                 const std::function<void(std::int64_t, std::span<const std::int64_t>, std::int64_t)>& visit);

// Body: made from the call if it can be, with
//   template <class S> S operator()(const Window<S>& window) const
template <class Body>
struct PoolWindows {
  Body body;
  explicit PoolWindows(const Call& call) : body(elementwise_detail::make_body<Body>(call)) {}

  template <class S>
  void operator()(Frame<S>& frame) const {
    const Array<S> x = frame.input(0);
    const Shape spatial(x.shape.begin() + 2, x.shape.end());
    const WindowGeometry geometry =
        window_geometry(window_attributes(frame.site(), spatial.size()), spatial);
    Array<S> y(frame.output_shape(0));
    const std::int64_t channels = x.shape[0] * x.shape[1];
    const std::int64_t in_size = element_count(spatial), out_size = element_count(geometry.outputs);
    std::vector<S> inside;
    for_windows(geometry, [&](std::int64_t at, std::span<const std::int64_t> places, std::int64_t size) {
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

#include "patterns/window.h"

#include <algorithm>

namespace assay {
namespace {

// Division by a positive number, rounded down and up.
std::int64_t divide_down(std::int64_t a, std::int64_t b) {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}
std::int64_t divide_up(std::int64_t a, std::int64_t b) { return -divide_down(-a, b); }

bool is_same(const WindowAttributes& a) {
  return a.auto_pad == "SAME_UPPER" || a.auto_pad == "SAME_LOWER";
}

std::int64_t reach(const WindowAttributes& a, std::size_t d) {
  return (a.kernel[d] - 1) * a.dilations[d] + 1;
}

bool all_between(std::span<const std::int64_t> values, std::int64_t least) {
  return std::all_of(values.begin(), values.end(),
                     [&](std::int64_t x) { return x >= least && x < kWindowLimit; });
}

}  // namespace

WindowAttributes window_attributes(const Site& site, std::size_t spatial_rank) {
  WindowAttributes a;
  const auto or_filled = [&](std::string_view name, std::size_t count, std::int64_t value) {
    const std::vector<std::int64_t>& given = site.integers(name);
    return given.empty() ? Shape(count, value) : Shape(given);
  };
  a.kernel = site.integers("kernel_shape");
  a.strides = or_filled("strides", spatial_rank, 1);
  a.dilations = or_filled("dilations", spatial_rank, 1);
  a.auto_pad = site.text("auto_pad");
  a.pads = or_filled("pads", 2 * spatial_rank, 0);
  if (!a.auto_pad.empty() && a.auto_pad != "NOTSET") a.pads.assign(2 * spatial_rank, 0);
  a.ceil_mode = site.integer("ceil_mode") != 0;
  return a;
}

bool in_window_limits(const WindowAttributes& a) {
  if (!all_between(a.kernel, 1) || !all_between(a.strides, 1) || !all_between(a.dilations, 1) ||
      !all_between(a.pads, 0))
    return false;
  for (std::size_t d = 0; d < a.kernel.size(); ++d)
    if (a.kernel[d] > 1 && a.dilations[d] >= kWindowLimit / (a.kernel[d] - 1)) return false;
  return true;
}

// With auto_pad the standard gives formulas of its own, in which ceil_mode changes nothing.
Dim window_output(const WindowAttributes& a, std::size_t d, const Dim& input) {
  if (!input.known()) return {};
  const std::int64_t stride = a.strides[d];
  Dim result;
  if (is_same(a)) {
    result.value = divide_up(input.value, stride);
    return result;
  }
  const std::int64_t begin = a.pads[d], end = a.pads[d + a.kernel.size()];
  const std::int64_t room = input.value + begin + end - reach(a, d);
  const bool rounds_up = a.ceil_mode && a.auto_pad != "VALID";
  std::int64_t count = (rounds_up ? divide_up(room, stride) : divide_down(room, stride)) + 1;
  // A window that would begin in the padding behind the input is left out.
  if (rounds_up && (count - 1) * stride >= input.value + begin) --count;
  result.value = count;
  return result;
}

WindowGeometry window_geometry(const WindowAttributes& a, const Shape& spatial) {
  WindowGeometry g;
  g.kernel = a.kernel;
  g.strides = a.strides;
  g.dilations = a.dilations;
  g.extents = spatial;
  for (std::size_t d = 0; d < spatial.size(); ++d) {
    g.outputs.push_back(window_output(a, d, spatial[d]).value);
    std::int64_t begin = a.pads[d], end = a.pads[d + spatial.size()];
    if (is_same(a)) {
      const std::int64_t total =
          std::max<std::int64_t>(0, (g.outputs[d] - 1) * a.strides[d] + reach(a, d) - spatial[d]);
      begin = a.auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
      end = total - begin;
    }
    g.pads_begin.push_back(begin);
    g.pads_end.push_back(end);
  }
  return g;
}

WindowSpan window_span(const WindowGeometry& g, std::size_t axis, std::int64_t output) {
  const std::int64_t kernel = g.kernel[axis], dilation = g.dilations[axis];
  const std::int64_t start = output * g.strides[axis] - g.pads_begin[axis];
  const auto taps_below = [&](std::int64_t position) {
    return std::clamp<std::int64_t>(divide_up(position - start, dilation), 0, kernel);
  };
  const std::int64_t first = taps_below(0);
  return {start + first * dilation, taps_below(g.extents[axis]) - first,
          taps_below(g.extents[axis] + g.pads_end[axis])};
}

void for_windows(
    const WindowGeometry& g,
    const std::function<void(std::int64_t, std::span<const std::int64_t>, std::int64_t)>& visit) {
  const std::size_t rank = g.extents.size();
  const Shape strides = strides_of(g.extents);
  const std::int64_t count = element_count(g.outputs);
  std::vector<std::int64_t> at(rank), places, next;
  for (std::int64_t w = 0; w < count; ++w) {
    places.assign(1, 0);
    std::int64_t padded = 1;
    for (std::size_t d = 0; d < rank; ++d) {
      const WindowSpan span = window_span(g, d, at[d]);
      padded *= span.covered;
      next.clear();
      for (std::int64_t base : places)
        for (std::int64_t t = 0; t < span.inside; ++t)
          next.push_back(base + (span.position + t * g.dilations[d]) * strides[d]);
      places.swap(next);
    }
    visit(w, places, padded);
    for (std::size_t d = rank; d-- > 0;) {
      if (++at[d] < g.outputs[d]) break;
      at[d] = 0;
    }
  }
}

}  // namespace assay

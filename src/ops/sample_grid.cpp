// Sampling at the places of a grid, and the grids of affine maps.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ops/output_type.h"
#include "ops/sample_axis.h"
#include "ops/sample_parts.h"
#include "ops/sample_point.h"
#include "ops/shape_numbers.h"
#include "patterns/compute.h"
#include "patterns/move.h"

namespace assay {
namespace {

enum class Padding : std::uint8_t { zeros, border, reflection };

struct GridRule {
  SamplingRule::Kernel kernel;
  Padding padding;
  bool align_corners;
};

GridRule grid_rule(const Site& site) {
  using Kernel = SamplingRule::Kernel;
  const std::string &mode = site.text("mode"), &padding = site.text("padding_mode");
  return {mode == "nearest"                      ? Kernel::nearest
          : mode == "cubic" || mode == "bicubic" ? Kernel::cubic
                                                 : Kernel::linear,
          padding == "zeros"    ? Padding::zeros
          : padding == "border" ? Padding::border
                                : Padding::reflection,
          site.integer("align_corners") != 0};
}

// From [-1, 1] to places on an axis.
template <class S>
S denormalized(const GridRule& rule, const S& x, std::int64_t extent) {
  const S one = constant<S>(1.0), two = constant<S>(2.0);
  if (rule.align_corners) return (x + one) / two * constant<S>(static_cast<double>(extent - 1));
  return ((x + one) * constant<S>(static_cast<double>(extent)) - one) / two;
}

// Mirrored at low and high until it lies between them.
double reflected(double x, double low, double high) {
  const double span = high - low;
  if (!(span > 0) || !std::isfinite(x)) return 0;
  const double rest = std::fmod(std::fabs(x - low), 2 * span);
  return low + (rest > span ? 2 * span - rest : rest);
}

struct GridAxis {
  std::int64_t extent;
  double low, high;  // the borders
};

GridAxis grid_axis(const GridRule& rule, std::int64_t extent) {
  const auto length = static_cast<double>(extent);
  return {extent, rule.align_corners ? 0 : -0.5, rule.align_corners ? length - 1 : length - 0.5};
}

// The element that stands for index i; -1 for none.
std::int64_t padded_index(const GridRule& rule, const GridAxis& axis, double i) {
  const auto last = static_cast<double>(axis.extent - 1);
  if (rule.padding == Padding::zeros)
    return i >= 0 && i <= last ? static_cast<std::int64_t>(i) : -1;
  if (rule.padding == Padding::reflection && (i < axis.low || i > axis.high))
    i = reflected(i, axis.low, axis.high);
  return i >= 0 ? static_cast<std::int64_t>(std::min(i, last)) : 0;
}

template <class S>
Cell<S> cell_at(const GridRule& rule, const GridAxis& axis, const PlaceRange& place, double cell) {
  Cell<S> result;
  S weights[4];
  int count = 2, begin = 0;
  const S r = fraction<S>(place, cell);
  if (rule.kernel == SamplingRule::Kernel::linear) {
    weights[0] = constant<S>(1.0) - r;
    weights[1] = r;
  } else {
    count = 4;
    begin = -1;
    cubic_weights(r, -0.75, weights);
  }
  for (int t = 0; t < count; ++t) {
    const std::int64_t i = padded_index(rule, axis, cell + begin + t);
    if (i >= 0) result.add(i, weights[t]);
  }
  return result;
}

// The ways to read an axis at a place; none if there are too many.
template <class S>
std::vector<Cell<S>> cells(const GridRule& rule, const GridAxis& axis, PlaceRange place) {
  std::vector<Cell<S>> result;
  if (place.too_wide() || !(std::fabs(place.value) < 0x1p52)) {
    if (!std::same_as<S, double>) return result;
    const double far = place.value > 0 ? static_cast<double>(axis.extent) + 8 : -8;
    place = {far, far, far};  // where nothing is, or the edge
  }
  if (rule.kernel == SamplingRule::Kernel::nearest) {
    const double best = std::nearbyint(place.value);
    const auto add = [&](double i) {
      Cell<S> cell;
      if (const std::int64_t at = padded_index(rule, axis, i); at >= 0)
        cell.add(at, constant<S>(1.0));
      result.push_back(std::move(cell));
    };
    add(best);
    for (double i = std::nearbyint(place.low); i <= std::nearbyint(place.high); ++i)
      if (i != best) add(i);
    return result;
  }
  const auto outside = [&](double x) { return x < axis.low || x > axis.high; };
  const auto add_cells = [&](const PlaceRange& at) {
    const double best = std::floor(at.value);
    result.push_back(cell_at<S>(rule, axis, at, best));
    for (double cell = std::floor(at.low); cell <= at.high; ++cell)
      if (cell != best) result.push_back(cell_at<S>(rule, axis, at, cell));
  };
  // Mirroring moves the whole neighbourhood; elsewhere each neighbour is looked up by itself.
  const bool mirrored = rule.padding == Padding::reflection && outside(place.value);
  if (mirrored) {
    const double at = reflected(place.value, axis.low, axis.high);
    const double reach = std::max(place.high - place.value, place.value - place.low);
    place = {at, at - reach, at + reach};
  }
  add_cells(place);
  return result;
}

// One way to read a channel.
template <class S>
struct ChannelTaps {
  std::vector<std::int64_t> offsets;
  std::vector<S> weights;
};

// All ways to combine the axes' cells, the value's own first; none if there are too many.
template <class S>
std::vector<ChannelTaps<S>> readings(const std::vector<std::vector<Cell<S>>>& axes,
                                     const std::vector<std::int64_t>& strides) {
  std::vector<ChannelTaps<S>> result = {{{0}, {constant<S>(1.0)}}};
  std::size_t ways = 1;
  for (const auto& choices : axes) {
    ways *= choices.size();
    if (ways == 0 || ways > 64) return {};
  }
  for (std::size_t d = 0; d < axes.size(); ++d) {
    std::vector<ChannelTaps<S>> next;
    for (const Cell<S>& cell : axes[d])
      for (const ChannelTaps<S>& reading : result) {
        ChannelTaps<S> longer;
        for (std::size_t a = 0; a < reading.offsets.size(); ++a)
          for (std::size_t t = 0; t < cell.index.size(); ++t) {
            longer.offsets.push_back(reading.offsets[a] + cell.index[t] * strides[d]);
            longer.weights.push_back(d == 0 ? cell.weight[t] : reading.weights[a] * cell.weight[t]);
          }
        next.push_back(std::move(longer));
      }
    result = std::move(next);
  }
  return result;
}

template <class S>
S read(const ChannelTaps<S>& reading, const S* channel, bool copies, std::vector<S>& buffer) {
  if (copies) return reading.offsets.empty() ? zero<S>() : channel[reading.offsets[0]];
  buffer.clear();
  for (std::int64_t offset : reading.offsets) buffer.push_back(channel[offset]);
  return dot(std::span<const S>(reading.weights), std::span<const S>(buffer));
}

// What every reading of the node shares.
struct GridShape {
  GridRule rule;
  std::int64_t batch, channels, points, size;
  std::vector<GridAxis> axes;
  std::vector<std::int64_t> strides;
};

GridShape grid_shape(const Call& call) {
  const Shape &x = call.input(0).shape(), &grid = call.input(1).shape();
  GridShape g{grid_rule(call.site), x[0], x[1], 1, 1, {}, {}};
  for (std::size_t d = 1; d + 1 < grid.size(); ++d) g.points *= grid[d];
  const Shape spatial(x.begin() + 2, x.end());
  g.size = element_count(spatial);
  g.strides = strides_of(spatial);
  for (std::int64_t extent : spatial) g.axes.push_back(grid_axis(g.rule, extent));
  return g;
}

// Coordinates are kept in f32, or in the grid's own format where that is narrower.
const Rounding& coordinate_format(ElementType type) {
  return type == ElementType::f16 || type == ElementType::bf16 ? rounding_of(type)
                                                               : Rounding::f32();
}

template <class S>
std::vector<ChannelTaps<S>> point_readings(const GridShape& g, const Array<S>& grid,
                                           std::int64_t at, const Rounding& format) {
  const RoundingScope scope(format);
  const std::size_t rank = g.axes.size();
  std::vector<std::vector<Cell<S>>> choices(rank);
  for (std::size_t d = 0; d < rank; ++d) {  // the grid names the innermost axis first
    const S x =
        grid[at * static_cast<std::int64_t>(rank) + static_cast<std::int64_t>(rank - 1 - d)];
    const S place = denormalized(g.rule, x, g.axes[d].extent);
    choices[d] = cells<S>(g.rule, g.axes[d], place_range(place));
  }
  return readings(choices, g.strides);
}

template <class S>
void sample_grid(Call& call) {
  const GridShape g = grid_shape(call);
  const ElementType type = call.input(0).type();
  const RoundingScope scope(rounding_of(is_real(type) ? type : ElementType::f32));
  const Array<S> x = load<S>(call.input(0)), grid = load<S>(call.input(1));
  const bool copies = g.rule.kernel == SamplingRule::Kernel::nearest;
  const double gain = g.rule.kernel == SamplingRule::Kernel::cubic
                          ? std::pow(1.4, static_cast<double>(g.axes.size()))
                          : 1;
  Array<S> y(call.output_shape(0));
  std::vector<S> buffer;
  for (std::int64_t n = 0; n < g.batch; ++n)
    for (std::int64_t p = 0; p < g.points; ++p) {
      const auto ways =
          point_readings(g, grid, n * g.points + p, coordinate_format(call.input(1).type()));
      for (std::int64_t c = 0; c < g.channels; ++c) {
        const S* channel = x.data.data() + (n * g.channels + c) * g.size;
        S result =
            ways.empty() ? any_of(channel, g.size, gain) : read(ways[0], channel, copies, buffer);
        for (std::size_t w = 1; w < ways.size(); ++w)
          result = hull(result, read(ways[w], channel, copies, buffer));
        y[(n * g.channels + c) * g.points + p] = as_element(type, result);
      }
    }
  call.outputs[0] = settle(type, y);
}

// Where each output element comes from, if no other evaluation may choose another; S is double
// where the rounding of coordinates does not matter.
template <class S>
std::optional<Sources> grid_sources(const Call& call) {
  const GridShape g = grid_shape(call);
  const Array<S> grid = load<S>(call.input(1));
  Sources sources{{0}, {}, {}, 1};
  sources.indices.resize(static_cast<std::size_t>(g.batch * g.channels * g.points));
  for (std::int64_t n = 0; n < g.batch; ++n)
    for (std::int64_t p = 0; p < g.points; ++p) {
      const auto ways =
          point_readings(g, grid, n * g.points + p, coordinate_format(call.input(1).type()));
      if (ways.size() != 1) return std::nullopt;
      for (std::int64_t c = 0; c < g.channels; ++c)
        sources.indices[static_cast<std::size_t>((n * g.channels + c) * g.points + p)] =
            ways[0].offsets.empty() ? -1 : (n * g.channels + c) * g.size + ways[0].offsets[0];
    }
  return sources;
}

void evaluate_grid_sample(Call& call) {
  const ElementType type = call.input(0).type();
  if (grid_rule(call.site).kernel == SamplingRule::Kernel::nearest) {
    const auto sources = call.reading == Reading::value     ? grid_sources<double>(call)
                         : call.reading == Reading::bounded ? grid_sources<Bounded>(call)
                                                            : grid_sources<Interval>(call);
    if (sources) {
      call.outputs[0] = gathered(call, *sources, type, call.output_shape(0));
      return;
    }
    if (domain_of(type) == Domain::text || domain_of(type) == Domain::complex) {
      call.outputs[0] = Value::unknown();
      return;
    }
  }
  switch (call.reading) {
    case Reading::value:
      return sample_grid<double>(call);
    case Reading::bounded:
      return sample_grid<Bounded>(call);
    case Reading::interval:
      return sample_grid<Interval>(call);
  }
}

void require_grid_sample(Check& c) {
  const bool old = c.site.version() < 20;
  bool good = old ? c.one_of("mode", {"bilinear", "nearest", "bicubic"})
                  : c.one_of("mode", {"linear", "nearest", "cubic"});
  good = c.one_of("padding_mode", {"zeros", "border", "reflection"}) && good;
  good = c.in_range("align_corners", between(0, 1)) && good;
  const Domain domain = domain_of(c.site.element(0));
  const bool movable = c.site.text("mode") == "nearest";
  good =
      c.argument(movable || (domain != Domain::text && domain != Domain::complex), "weighed-type",
                 "mode nearest for text and complex numbers", c.site.text("mode")) &&
      good;
  if (!good || !c.rank("X", old ? exactly(4) : at_least(3)) || !c.same_rank("X", "grid")) return;
  const Dims& x = *c.dims("X");
  c.extent("grid", 0, x[0], "the batch of X");
  c.extent("grid", -1, Dim(static_cast<std::int64_t>(x.size()) - 2), "the spatial rank of X");
  for (std::size_t d = 2; d < x.size(); ++d)
    if (x[d].known() && x[d].value == 0)
      c.shape(false, "not-empty", "spatial extents above 0", to_text(x));
}

void infer_grid_sample(Infer& n) {
  const Dims *x = n.dims(0), *grid = n.dims(1);
  if (!x || !grid || x->size() < 3 || x->size() != grid->size()) return n.output(0, n.element(0));
  Dims y = {(*x)[0], (*x)[1]};
  y.insert(y.end(), grid->begin() + 1, grid->end() - 1);
  n.output(0, n.element(0), std::move(y));
}

void corners_are_aligned(Builder& b) {
  b.output(0, b.again({attribute("align_corners", 1)}).front());
}

Operator grid_sample() {
  return {.name = "GridSample",
          .versions = {16, 20, 22},
          .summary = "The input at the places of a grid, whose coordinates run from -1 to 1.",
          .attributes = {{"align_corners", Role::flag},
                         {"mode", Role::choice},
                         {"padding_mode", Role::choice}},
          .require = require_grid_sample,
          .infer = infer_grid_sample,
          .meaning = custom(Pattern::sample, evaluate_grid_sample),
          .variants = {{"corners-are-aligned", Variant::Kind::difference,
                        "PyTorch before 1.3, which had no other mode", corners_are_aligned}}};
}

// The places of a grid: evenly spaced from -1 to 1, over pixels or between their centers.
struct AffineGrid {
  template <class S>
  void operator()(Frame<S>& f) const {
    const std::vector<std::int64_t> size = f.exact(1).integers();
    require_room(f.call());
    const Array<S> theta = f.input(0);
    const std::size_t rank = size.size() - 2;
    const bool aligned = f.site().integer("align_corners") != 0;
    std::vector<std::vector<S>> steps(rank);
    for (std::size_t d = 0; d < rank; ++d)
      for (std::int64_t i = 0; i < size[d + 2]; ++i)
        steps[d].push_back(step<S>(i, size[d + 2], aligned));
    Array<S> y(f.output_shape(0));
    const std::int64_t points = element_count(std::span(size).subspan(2));
    std::vector<S> place(rank + 1, constant<S>(1.0));
    std::int64_t at = 0;
    for (std::int64_t n = 0; n < size[0]; ++n)
      for (std::int64_t p = 0; p < points; ++p) {
        std::int64_t rest = p;
        for (std::size_t d = rank; d-- > 0; rest /= size[d + 2])
          place[rank - 1 - d] = steps[d][static_cast<std::size_t>(rest % size[d + 2])];
        for (std::size_t r = 0; r < rank; ++r) {
          const std::size_t row = (static_cast<std::size_t>(n) * rank + r) * (rank + 1);
          y[at++] =
              dot(std::span<const S>(theta.data).subspan(row, rank + 1), std::span<const S>(place));
        }
      }
    f.output(0, y);
  }

  template <class S>
  static S step(std::int64_t i, std::int64_t extent, bool aligned) {
    const S one = constant<S>(1.0), two = constant<S>(2.0);
    const S at = constant<S>(static_cast<double>(i)),
            count = constant<S>(static_cast<double>(extent));
    if (aligned) {
      if (i == 0) return -one;
      const S last = count - one;
      return hull(two * at / last - one, (two / last) * at - one);
    }
    const S width = two / count;
    return hull((two * at + one) / count - one, (width / two - one) + width * at);
  }
};

void require_affine_grid(Check& c) {
  if (!c.in_range("align_corners", between(0, 1))) return;
  if (!c.rank("theta", exactly(3)) || !c.rank("size", exactly(1))) return;
  const Dim& count = (*c.dims("size"))[0];
  if (!count.known()) return c.undecided("size", "the length of size");
  if (!c.shape(count.value == 4 || count.value == 5, "size", "size of 4 or 5 elements",
               fmt::format("{}", count.value)))
    return;
  const std::int64_t rank = count.value - 2;
  c.extent("theta", 1, Dim(rank), "the spatial rank");
  c.extent("theta", 2, Dim(rank + 1), "the spatial rank, and 1");
  const Tensor* known = c.site.constant(1);
  if (!known) return c.undecided("size", "the elements of size");
  const std::vector<std::int64_t> size = known->integers();
  c.extent("theta", 0, Dim(size[0]), "the batch that size says");
  Shape output(size.begin(), size.end());
  output[1] = rank;
  for (std::int64_t extent : size)
    if (!c.argument(extent >= 0, "size", "extents of at least 0", fmt::format("{}", extent)))
      return;
  sensible_size(c, to_dims(output));
}

void infer_affine_grid(Infer& n) {
  const auto size = dims_from_input(n.site, 1);
  if (!size || (size->size() != 4 && size->size() != 5)) return n.output(0, n.element(0));
  Dims y = {(*size)[0]};
  y.insert(y.end(), size->begin() + 2, size->end());
  y.push_back(Dim(static_cast<std::int64_t>(size->size()) - 2));
  n.output(0, n.element(0), std::move(y));
}

Operator affine_grid() {
  return {.name = "AffineGrid",
          .versions = {20},
          .summary = "The places to which affine maps take an even grid over [-1, 1].",
          .attributes = {{"align_corners", Role::flag}},
          .require = require_affine_grid,
          .infer = infer_affine_grid,
          .meaning = compute<AffineGrid>(Pattern::generate),
          .variants = {{"corners-are-aligned", Variant::Kind::difference,
                        "PyTorch before 1.3, which had no other mode", corners_are_aligned}}};
}

}  // namespace

std::vector<Operator> grid_operators() { return {affine_grid(), grid_sample()}; }

}  // namespace assay

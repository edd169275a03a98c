// Deformable convolution: every tap of every window is moved by an offset that is data.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ops/candidates.h"
#include "ops/conv.h"
#include "ops/window_checks.h"
#include "patterns/compute.h"

namespace assay {
namespace {

double below(double x) { return std::floor(x); }

// One channel, read at positions between its elements; zero outside.
template <class S>
class Sampler {
 public:
  Sampler(const S* data, std::span<const std::int64_t> extents) : data_(data), extents_(extents) {}

  // Linear interpolation is continuous, so a position that may lie in several cells gives the hull
  // of what each of them says.
  S operator()(std::span<const S> position) {
    std::vector<Candidates> floors;
    double cells = 1;
    bool sure = true;
    for (std::size_t d = 0; d < position.size(); ++d) {
      floors.push_back(candidates(position[d], below));
      sure = sure && floors.back().sure;
      cells *= floors.back().count();
    }
    if constexpr (std::is_same_v<S, double>)
      return sure ? in_cell(position, firsts(floors)) : std::nan("");
    else
      return sure && cells <= kMostCells ? in_cells(position, floors) : anywhere();
  }

 private:
  static constexpr double kMostCells = 64;

  static std::vector<std::int64_t> firsts(const std::vector<Candidates>& floors) {
    std::vector<std::int64_t> cell;
    for (const Candidates& f : floors) cell.push_back(f.first);
    return cell;
  }

  S in_cell(std::span<const S> position, const std::vector<std::int64_t>& cell) const {
    const std::size_t rank = position.size();
    std::vector<S> terms;
    for (std::size_t corner = 0; corner < std::size_t{1} << rank; ++corner) {
      S weight = constant<S>(1.0);
      std::int64_t place = 0;
      bool inside = true;
      for (std::size_t d = 0; d < rank; ++d) {
        const bool upper = (corner >> d & 1) != 0;
        const std::int64_t at = cell[d] + (upper ? 1 : 0);
        const S part = clamp(position[d] - constant<S>(static_cast<double>(cell[d])), zero<S>(),
                             constant<S>(1.0));
        weight = weight * (upper ? part : constant<S>(1.0) - part);
        inside = inside && at >= 0 && at < extents_[d];
        place = place * extents_[d] + at;
      }
      if (inside) terms.push_back(weight * data_[place]);
    }
    return sum(std::span<const S>(terms));
  }

  // The cell of the value first, since it gives the value.
  S in_cells(std::span<const S> position, const std::vector<Candidates>& floors) const {
    std::vector<std::int64_t> cell;
    for (std::size_t d = 0; d < floors.size(); ++d)
      cell.push_back(std::clamp(candidates(to_double(position[d]), below).first, floors[d].first,
                                floors[d].last));
    S result = in_cell(position, cell);
    cell = firsts(floors);
    while (true) {
      result = hull(result, in_cell(position, cell));
      std::size_t d = 0;
      for (; d < cell.size(); ++d) {
        if (++cell[d] <= floors[d].last) break;
        cell[d] = floors[d].first;
      }
      if (d == cell.size()) return result;
    }
  }

  S anywhere() const {
    if constexpr (std::is_same_v<S, Interval>) {
      Interval all = Interval::point(0);
      for (std::int64_t i = 0; i < element_count(extents_); ++i) all = hull(all, data_[i]);
      all.nan = true;
      return all;
    } else {
      return Bounded::anything(0);
    }
  }

  const S* data_;
  std::span<const std::int64_t> extents_;
};

// Convolutions and offsets see the same windows.
struct DeformConv {
  std::int64_t group, offset_group;
  explicit DeformConv(const Call& call)
      : group(call.site.integer("group", 1)), offset_group(call.site.integer("offset_group", 1)) {}

  template <class S>
  void operator()(Frame<S>& frame) const {
    const Shape &x = frame.shape(0), &w = frame.shape(1);
    const Shape spatial(x.begin() + 2, x.end());
    const WindowGeometry g =
        window_geometry(conv_attributes(frame.site(), to_dims(x), to_dims(w)), spatial);
    const Array<S> weights = frame.input(1);
    const Columns<S> columns(frame, g, offset_group);
    Array<S> y(frame.output_shape(0)), bias;
    if (frame.has(3)) bias = frame.input(3);
    const std::int64_t maps = w[0] / group,
                       terms = element_count(w) / std::max<std::int64_t>(w[0], 1);
    const std::int64_t rows = terms + (frame.has(3) ? 1 : 0), outputs = element_count(g.outputs);
    std::vector<S> a(static_cast<std::size_t>(maps * rows)),
        b(static_cast<std::size_t>(rows * outputs));
    for (std::int64_t block = 0; block < x[0] * group; ++block) {
      const std::int64_t batch = block / group, first = block % group * maps;
      for (std::int64_t m = 0; m < maps; ++m) {
        std::copy_n(weights.data.data() + (first + m) * terms, terms, a.data() + m * rows);
        if (frame.has(3)) a[static_cast<std::size_t>(m * rows + terms)] = bias[first + m];
      }
      columns.fill(batch, block % group * w[1], w[1], b.data());
      if (frame.has(3)) std::fill_n(b.data() + terms * outputs, outputs, constant<S>(1.0));
      multiply<S>(maps, outputs, rows, {a.data(), rows, 1}, {b.data(), outputs, 1},
                  y.data.data() + (batch * w[0] + first) * outputs);
    }
    frame.output(0, y);
  }

 private:
  template <class S>
  class Columns {
   public:
    Columns(const Frame<S>& frame, const WindowGeometry& g, std::int64_t offset_groups)
        : g_(g), groups_(offset_groups), x_(frame.input(0)), offset_(frame.input(2)) {
      if (frame.has(4)) mask_ = frame.input(4);
      masked_ = frame.has(4);
    }

    // What each tap of some channels reads, for all outputs: (channels x taps) x outputs.
    void fill(std::int64_t batch, std::int64_t first, std::int64_t channels, S* out) const {
      const std::int64_t taps = element_count(g_.kernel), outputs = element_count(g_.outputs);
      const std::int64_t plane = element_count(g_.extents);
      for (std::int64_t c = first; c < first + channels; ++c) {
        const std::int64_t group = c / (x_.shape[1] / groups_);
        Sampler<S> sample(x_.data.data() + (batch * x_.shape[1] + c) * plane, g_.extents);
        for (std::int64_t t = 0; t < taps; ++t) {
          const std::int64_t tap = (batch * groups_ + group) * taps + t;
          for (std::int64_t o = 0; o < outputs; ++o, ++out) {
            *out = sample(position(tap, t, o));
            if (masked_) *out = *out * mask_[tap * outputs + o];
          }
        }
      }
    }

   private:
    std::vector<S> position(std::int64_t tap, std::int64_t t, std::int64_t o) const {
      const std::size_t rank = g_.extents.size();
      const std::int64_t outputs = element_count(g_.outputs);
      std::vector<S> result(rank);
      std::int64_t rest = o;
      for (std::size_t d = rank; d-- > 0;) {
        const std::int64_t at = rest % g_.outputs[d] * g_.strides[d] - g_.pads_begin[d] +
                                t % g_.kernel[d] * g_.dilations[d];
        const std::int64_t moved =
            tap * static_cast<std::int64_t>(rank) + static_cast<std::int64_t>(d);
        result[d] = constant<S>(static_cast<double>(at)) + offset_[moved * outputs + o];
        rest /= g_.outputs[d];
        t /= g_.kernel[d];
      }
      return result;
    }

    const WindowGeometry& g_;
    std::int64_t groups_;
    Array<S> x_, offset_, mask_;
    bool masked_ = false;
  };
};

// offset and mask: one number for each batch, offset group, tap (and axis) and output.
void require_moves(Check& c, std::string_view input, std::int64_t per_tap, const Dims& outputs) {
  if (!c.index_of(input)) return;
  if (!c.rank(input, exactly(static_cast<std::int64_t>(outputs.size())))) return;
  c.extent(input, 0, outputs[0], "the batches of X");
  c.extent(input, 1, per_tap, "the taps of all offset groups");
  for (std::size_t d = 2; d < outputs.size(); ++d)
    c.extent(input, static_cast<std::int64_t>(d), outputs[d], "the extent of the output");
}

void require_deform_conv(Check& c) {
  // 2^rank neighbours are read for each tap.
  if (!c.rank("X", between(3, 10)) || !c.positive({"offset_group"}) || !require_conv(c, {})) return;
  const Dims &x = *c.dims("X"), &w = *c.dims("W");
  const std::int64_t groups = c.site.integer("offset_group", 1);
  if (!c.divisible(x[1], groups, "the number of channels")) return;
  const WindowAttributes a = conv_attributes(c.site, x, w);
  Dims outputs = window_outputs(a, x);
  outputs.insert(outputs.begin(), {x[0], w[0]});
  Dim taps = groups;
  for (std::int64_t extent : a.kernel) taps = taps * Dim(extent);
  if (!taps.known()) return c.undecided("extent", "the taps of all offset groups");
  require_moves(c, "mask", taps.value, outputs);
  taps = taps * Dim(static_cast<std::int64_t>(a.kernel.size()));
  require_moves(c, "offset", taps.value, outputs);
}

Operator deform_conv() {
  return {.name = "DeformConv",
          .versions = {19, 22},
          .summary = "A convolution whose taps are moved by offsets and read between elements.",
          .attributes = {{"dilations", Role::sizes},
                         {"group", Role::count},
                         {"kernel_shape", Role::sizes},
                         {"offset_group", Role::count},
                         {"pads", Role::pads},
                         {"strides", Role::sizes}},
          .require = require_deform_conv,
          .infer = [](Infer& n) { infer_conv(n, {}, n.element(0)); },
          .meaning = compute<DeformConv>(Pattern::sample)};
}

}  // namespace

std::vector<Operator> deformed_conv_operators() { return {deform_conv()}; }

}  // namespace assay

#include "patterns/patches.h"

#include <optional>

#include "patterns/patches_fill.h"
#include "scalar/watch.h"

namespace assay {
namespace {

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Cuts columns [j0, j1) where an output row ends.
void lay_out_runs(const Patches& p, std::int64_t group, std::int64_t j0, std::int64_t j1,
                  PatchTile& tile) {
  const PatchAxis& inner = p.axes.back();
  const std::size_t outer = p.axes.size() - 1;
  const std::int64_t outputs = p.outputs(), plane = p.plane();
  tile.runs.clear();
  tile.index.clear();
  for (std::int64_t j = j0; j < j1;) {
    const std::int64_t batch = j / outputs, place = j % outputs;
    const std::int64_t first = place % inner.outputs;
    const std::int64_t count = std::min(inner.outputs - first, j1 - j);
    tile.runs.push_back(
        {(batch * p.groups + group) * p.channels * plane, j - j0, count, first * inner.step});
    std::int64_t row = place / inner.outputs;
    tile.index.resize(tile.runs.size() * outer);
    for (std::size_t d = outer; d-- > 0; row /= p.axes[d].outputs)
      tile.index[(tile.runs.size() - 1) * outer + d] = row % p.axes[d].outputs;
    j += count;
  }
}

// Which row of a channel each leading tap of each run reads.
void lay_out_rows(const Patches& p, PatchTile& tile) {
  const std::size_t outer = p.axes.size() - 1;
  std::int64_t leading = 1;
  for (std::size_t d = 0; d < outer; ++d)
    leading *= static_cast<std::int64_t>(p.axes[d].offsets.size());
  tile.row_offsets.clear();
  for (std::int64_t t = 0; t < leading; ++t) {
    for (std::size_t r = 0; r < tile.runs.size(); ++r) {
      std::int64_t rest = t, scale = p.axes.back().extent, offset = 0;
      for (std::size_t d = outer; d-- > 0;) {
        const PatchAxis& axis = p.axes[d];
        const auto taps = static_cast<std::int64_t>(axis.offsets.size());
        const std::int64_t position = tile.index[r * outer + d] * axis.step +
                                      axis.offsets[static_cast<std::size_t>(rest % taps)];
        if (position < 0 || position >= axis.extent) offset = -1;
        if (offset >= 0) offset += position * scale;
        scale *= axis.extent;
        rest /= taps;
      }
      tile.row_offsets.push_back(offset);
    }
  }
}

}  // namespace

std::int64_t Patches::outputs() const {
  std::int64_t result = 1;
  for (const PatchAxis& axis : axes) result *= axis.outputs;
  return result;
}

std::int64_t Patches::plane() const {
  std::int64_t result = 1;
  for (const PatchAxis& axis : axes) result *= axis.extent;
  return result;
}

std::int64_t Patches::terms() const {
  std::int64_t result = channels;
  for (const PatchAxis& axis : axes) result *= static_cast<std::int64_t>(axis.offsets.size());
  return result;
}

Elements elements_of(const Tensor& tensor, std::vector<double>& keep) {
  const Storage storage = storage_of(tensor.type());
  if (storage == Storage::f32 || storage == Storage::f64)
    return {tensor.raw(), storage == Storage::f32};
  keep = load<double>(Value(tensor)).data;
  return {keep.data(), false};
}

void lay_out(const Patches& p, std::int64_t group, std::int64_t j0, std::int64_t j1,
             PatchTile& tile) {
  tile.kernels = &row_kernels();
  lay_out_runs(p, group, j0, j1, tile);
  lay_out_rows(p, tile);
  const PatchAxis& inner = p.axes.back();
  tile.bounds.clear();
  for (std::int64_t offset : inner.offsets) {
    for (const PatchRun& run : tile.runs) {
      const std::int64_t position = run.first + offset, room = inner.extent - position;
      const std::int64_t lo = position >= 0 ? 0 : divide_up(-position, inner.step);
      const std::int64_t hi = room <= 0 ? 0 : divide_up(room, inner.step);
      tile.bounds.push_back(std::min(lo, run.count));
      tile.bounds.push_back(std::clamp<std::int64_t>(hi, 0, run.count));
    }
  }
}

bool is_pointwise(const Patches& p) {
  return std::all_of(p.axes.begin(), p.axes.end(), [](const PatchAxis& a) {
    return a.step == 1 && a.outputs == a.extent && a.offsets.size() == 1 && a.offsets[0] == 0;
  });
}

PatchRow::PatchRow(const PatchAxis& inner, std::int64_t first, std::int64_t count)
    : extent_(inner.extent), step_(inner.step) {
  const auto [low, high] = std::minmax_element(inner.offsets.begin(), inner.offsets.end());
  least_ = *low + first * step_;
  phases_ = std::min(step_, *high - *low + 1);
  phase_length_ = count + (*high - *low) / step_;
  for (std::int64_t offset : inner.offsets)
    starts_.push_back((offset - *low) % step_ * phase_length_ + (offset - *low) / step_);
}

static bool is_empty(const Patches& p) {
  return p.batches == 0 || p.groups == 0 || p.maps == 0 || p.outputs() == 0;
}

static bool goes_by_rows(const Patches& p) {
  const bool few = p.channels == 1 ? p.maps < 4 || p.groups > 1 : p.maps < 4;
  return few && p.terms() > 0 && p.axes.back().outputs > 1 && !is_pointwise(p);
}

void convolve(const Patches& p, const Elements& x, const Elements& w, const PatchSink& sink,
              PackedWeights* kept) {
  if (is_empty(p)) return;
  if (goes_by_rows(p)) return convolve_rows(p, x, w, sink);
  convolve_packed(p, x, w, sink, kept);
}

bool convolve_with_magnitudes(const Patches& p, const Elements& x, const Elements& w,
                              const MagnitudeSink& sink, PackedWeights* kept) {
  const bool vector = p.batches * p.outputs() == 1 || p.maps == 1;
  if (is_empty(p) || p.terms() == 0 || vector || goes_by_rows(p)) return false;
  convolve_packed_twice(p, x, w, sink, kept);
  return true;
}

// Gives a group the sums of the one before if it has the same elements. Ranges mostly do: one of
// them stands for many channels.
static bool repeat_group(const Patches& p, std::int64_t group, const Interval* x, const Interval* w,
                         const Interval* bias, std::vector<Interval>& y) {
  const auto repeated = [](const Interval* from, std::int64_t count) {
    return std::equal(from, from + count, from - count, [](const Interval& a, const Interval& b) {
      return a.low == b.low && a.high == b.high && a.nan == b.nan;
    });
  };
  const std::int64_t read = p.channels * p.plane(), written = p.maps * p.outputs();
  if (group == 0 || !repeated(w + group * p.maps * p.terms(), p.maps * p.terms())) return false;
  if (bias && !repeated(bias + group * p.maps, p.maps)) return false;
  for (std::int64_t batch = 0; batch < p.batches; ++batch)
    if (!repeated(x + (batch * p.groups + group) * read, read)) return false;
  for (std::int64_t batch = 0; batch < p.batches; ++batch) {
    Interval* const to = y.data() + (batch * p.groups + group) * written;
    std::copy_n(to - written, written, to);
  }
  return true;
}

// Where each channel stands for several: what each term of a sum then stands for.
static std::optional<Counts> counts_of_terms(const Patches& p, bool bias) {
  if (p.groups > 1 || p.channels == 0) return std::nullopt;
  return counts_of_sums(p.channels, p.terms() / p.channels, bias ? 1 : 0);
}

template <class S>
std::vector<S> convolve(const Patches& p, const S* x, const S* w, const S* bias) {
  const std::optional<Counts> counted = counts_of_terms(p, bias != nullptr);
  std::optional<CountsScope> scope;
  if (counted) scope.emplace(*counted);
  const std::int64_t outputs = p.outputs(), terms = p.terms(), rows = terms + (bias ? 1 : 0);
  const std::int64_t columns = p.batches * outputs;
  std::vector<S> y(static_cast<std::size_t>(columns * p.groups * p.maps));
  const std::int64_t width =
      std::clamp<std::int64_t>((std::int64_t{1} << 20) / std::max<std::int64_t>(rows, 1), 1,
                               std::max<std::int64_t>(columns, 1));
  std::vector<S> b(static_cast<std::size_t>(rows * width));
  std::vector<S> a(static_cast<std::size_t>(rows * p.maps)),
      c(static_cast<std::size_t>(p.maps * width));
  PatchTile tile;
  for (std::int64_t group = 0; group < p.groups; ++group) {
    if constexpr (std::is_same_v<S, Interval>)
      if (repeat_group(p, group, x, w, bias, y)) continue;
    for (std::int64_t map = 0; map < p.maps; ++map) {
      const std::int64_t whole = group * p.maps + map;
      std::copy_n(w + whole * terms, terms, a.data() + map * rows);
      if (bias) a[static_cast<std::size_t>(map * rows + terms)] = bias[whole];
    }
    for (std::int64_t j0 = 0; j0 < columns; j0 += width) {
      const std::int64_t count = std::min(width, columns - j0);
      lay_out(p, group, j0, j0 + count, tile);
      fill_patches(p, x, tile, 0, terms, b.data(), count);
      if (bias) std::fill_n(b.data() + terms * count, count, constant<S>(1.0));
      multiply<S>(p.maps, count, rows, {a.data(), rows, 1}, {b.data(), count, 1}, c.data());
      for (std::int64_t map = 0; map < p.maps; ++map) {
        for (std::int64_t j = j0; j < j0 + count; ++j) {
          const std::int64_t at = (j / outputs * p.groups + group) * p.maps + map;
          y[static_cast<std::size_t>(at * outputs + j % outputs)] =
              c[static_cast<std::size_t>(map * count + j - j0)];
        }
      }
    }
  }
  return y;
}

template std::vector<Bounded> convolve(const Patches&, const Bounded*, const Bounded*,
                                       const Bounded*);
template std::vector<Interval> convolve(const Patches&, const Interval*, const Interval*,
                                        const Interval*);

}  // namespace assay

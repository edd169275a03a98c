#include "patterns/patches.h"

#include "base/parallel.h"
#include "patterns/gemm.h"
#include "patterns/patches_fill.h"

namespace assay {
namespace {

// Columns of the result that are computed before they are handed on: as many as a strip of gemm,
// fewer where the results would not stay in the second cache.
constexpr std::int64_t kStrip = 480;
constexpr std::int64_t kResults = std::int64_t{1} << 17;
constexpr double kParallelWork = 400e3;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

Elements at(const Elements& x, std::int64_t offset) {
  if (x.is_float) return {static_cast<const float*>(x.data) + offset, true};
  return {static_cast<const double*>(x.data) + offset, false};
}

std::int64_t strip_width(std::int64_t maps) {
  return std::clamp<std::int64_t>(kResults / std::max<std::int64_t>(maps, 1) / 24 * 24, 96, kStrip);
}

std::vector<double>& result_buffer(std::int64_t size) {
  thread_local std::vector<double> own;
  if (own.size() < static_cast<std::size_t>(size)) own.resize(static_cast<std::size_t>(size));
  return own;
}

// Every output reads just the element at its own place.
bool is_pointwise(const Patches& p) {
  return std::all_of(p.axes.begin(), p.axes.end(), [](const PatchAxis& a) {
    return a.step == 1 && a.outputs == a.extent && a.offsets.size() == 1 && a.offsets[0] == 0;
  });
}

MatrixView weights_of(const Patches& p, const Elements& w, std::int64_t group) {
  const Elements own = at(w, group * p.maps * p.terms());
  return {own.data, own.is_float, p.terms(), 1};
}

// Runs multiply(group, j0, j1, c) for strips of columns [j0, j1) of [0, columns) and hands the
// maps x (j1 - j0) results at c on.
template <class Multiply>
void by_strips(const Patches& p, std::int64_t columns, const PatchSink& sink,
               const Multiply& multiply) {
  const std::int64_t outputs = p.outputs();
  // As many strips as keep all threads busy to the end; a single one is left to the product to cut.
  std::int64_t strips = divide_up(columns, strip_width(p.maps));
  if (strips > 1) strips = divide_up(strips, thread_count()) * thread_count();
  const std::int64_t width = std::min(divide_up(divide_up(columns, strips), 24) * 24, columns);
  strips = divide_up(columns, width);
  const double work =
      static_cast<double>(p.maps) * static_cast<double>(p.terms()) * static_cast<double>(width);
  const auto grain = static_cast<std::int64_t>(kParallelWork / std::max(work, 1.0)) + 1;
  parallel_for(p.groups * strips, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t group = task / strips, j0 = task % strips * width;
      const std::int64_t j1 = std::min(j0 + width, columns);
      double* const c = result_buffer(p.maps * width).data();
      multiply(group, j0, j1, c);
      for (std::int64_t map = 0; map < p.maps; ++map) {
        for (std::int64_t j = j0; j < j1;) {
          const std::int64_t batch = j / outputs, first = j % outputs;
          const std::int64_t count = std::min(outputs - first, j1 - j);
          sink(batch, group * p.maps + map, first, count, c + map * (j1 - j0) + (j - j0));
          j += count;
        }
      }
    }
  });
}

void convolve_pointwise(const Patches& p, const Elements& x, const Elements& w,
                        const PatchSink& sink) {
  const std::int64_t outputs = p.outputs();
  for (std::int64_t batch = 0; batch < p.batches; ++batch) {
    const auto shifted = [&](std::int64_t, std::int64_t map, std::int64_t begin, std::int64_t count,
                             double* sums) { sink(batch, map, begin, count, sums); };
    by_strips(p, outputs, shifted,
              [&](std::int64_t group, std::int64_t j0, std::int64_t j1, double* c) {
                const Elements from = at(x, (batch * p.groups + group) * p.channels * outputs + j0);
                gemm(p.maps, j1 - j0, p.terms(), weights_of(p, w, group),
                     {from.data, from.is_float, outputs, 1}, c, j1 - j0);
              });
  }
}

// What a column of the packed matrix holds is short: a call for each piece would cost more than the
// copy. Flat, because only what is inlined here is compiled for AVX2.
__attribute__((target("avx2"), flatten)) void fill_wide(const Patches& p, const float* x,
                                                        const PatchTile& tile, std::int64_t k0,
                                                        std::int64_t k1, double* out,
                                                        std::int64_t stride) {
  const auto copy = [](const float* __restrict from, std::int64_t step, std::int64_t count,
                       double* __restrict to) {
    if (step == 1)
      for (std::int64_t i = 0; i < count; ++i) to[i] = from[i];
    else if (step == 2)
      for (std::int64_t i = 0; i < count; ++i) to[i] = from[2 * i];
    else
      for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * step];
  };
  fill_patches_by(copy, p, x, tile, k0, k1, out, stride);
}

template <class T>
void convolve_packed(const Patches& p, const T* x, const Elements& w, const PatchSink& sink) {
  // A matrix of one column is multiplied without packing.
  const bool single = p.batches * p.outputs() == 1;
  const bool wide = gemm_isa() != "sse";
  by_strips(
      p, p.batches * p.outputs(), sink,
      [&](std::int64_t group, std::int64_t j0, std::int64_t j1, double* c) {
        const auto pack = [&](std::int64_t k0, std::int64_t k1, std::int64_t from, std::int64_t to,
                              double* out, std::int64_t stride) {
          thread_local PatchTile tile;
          lay_out(p, group, j0 + from, j0 + to, tile);
          if constexpr (std::is_same_v<T, float>)
            if (wide) return fill_wide(p, x, tile, k0, k1, out, stride);
          fill_patches(p, x, tile, k0, k1, out, stride);
        };
        if (!single)
          return gemm_packed(p.maps, j1 - j0, p.terms(), weights_of(p, w, group), pack, c, j1 - j0);
        std::vector<double> column(static_cast<std::size_t>(p.terms()));
        pack(0, p.terms(), 0, 1, column.data(), 1);
        gemm(p.maps, 1, p.terms(), weights_of(p, w, group), {column.data(), false, 1, 1}, c, 1);
      });
}

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

void convolve(const Patches& p, const Elements& x, const Elements& w, const PatchSink& sink) {
  const std::int64_t outputs = p.outputs();
  if (p.batches == 0 || p.groups == 0 || p.maps == 0 || outputs == 0) return;
  if (is_pointwise(p)) return convolve_pointwise(p, x, w, sink);
  const bool few = p.channels == 1 ? p.maps < 4 || p.groups > 1 : p.maps < 4;
  if (few && p.terms() > 0 && p.axes.back().outputs > 1) return convolve_rows(p, x, w, sink);
  if (x.is_float) return convolve_packed(p, static_cast<const float*>(x.data), w, sink);
  convolve_packed(p, static_cast<const double*>(x.data), w, sink);
}

template <class S>
std::vector<S> convolve(const Patches& p, const S* x, const S* w, const S* bias) {
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

// Convolutions as matrix products: the weights are packed once, the patches a strip at a time.
#include <cmath>

#include "base/parallel.h"
#include "patterns/gemm.h"
#include "patterns/patches_fill.h"

namespace assay {
namespace {

static_assert(kRowUnit <= kPanelSlack);

// Columns of the result that are computed before they are handed on: as many as leave their patches
// in the second cache, fewer where the results would not stay there.
constexpr std::int64_t kWidth = 240;
constexpr std::int64_t kResults = std::int64_t{1} << 16;
// A strip for a thread of its own is not narrower than this, and a multiple of this.
constexpr std::int64_t kNarrow = 40;
constexpr std::int64_t kStep = 8;
constexpr double kParallelWork = 400e3;
// Weights are kept only as long as all tensors take less than this share of what they may.
constexpr std::size_t kShareKept = 16;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

Elements at(const Elements& x, std::int64_t offset) {
  if (x.is_float) return {static_cast<const float*>(x.data) + offset, true};
  return {static_cast<const double*>(x.data) + offset, false};
}

double work_of(const Patches& p, std::int64_t columns) {
  return static_cast<double>(p.maps) * static_cast<double>(p.terms()) *
         static_cast<double>(columns);
}

// Even strips, as many as keep all threads busy to the end. Where there are too few columns for
// that there is one strip, of which the product cuts the rows.
std::int64_t strip_width(const Patches& p, std::int64_t columns) {
  const std::int64_t most =
      std::clamp<std::int64_t>(kResults / p.maps / kStep * kStep, kNarrow, kWidth);
  const std::int64_t threads = thread_count();
  std::int64_t strips = divide_up(columns, most);
  if (columns >= threads * kNarrow && work_of(p, columns) >= kParallelWork)
    strips = divide_up(strips, threads) * threads;
  return std::min(divide_up(divide_up(columns, strips), kStep) * kStep, columns);
}

std::vector<double>& result_buffer(std::int64_t size) {
  thread_local std::vector<double> own;
  if (own.size() < static_cast<std::size_t>(size)) own.resize(static_cast<std::size_t>(size));
  return own;
}

MatrixView weights_of(const Patches& p, const Elements& w, std::int64_t group) {
  const Elements own = at(w, group * p.maps * p.terms());
  return {own.data, own.is_float, p.terms(), 1};
}

PackedWeights pack_weights(const Patches& p, const Elements& w, PackedWeights* kept) {
  if (kept && *kept) return *kept;
  auto packed = std::make_shared<std::vector<PackedRows>>();
  packed->reserve(static_cast<std::size_t>(p.groups));
  for (std::int64_t group = 0; group < p.groups; ++group)
    packed->emplace_back(p.maps, p.terms(), weights_of(p, w, group));
  if (kept && live_tensor_bytes() < memory_limit() / kShareKept) *kept = packed;
  return packed;
}

// Runs multiply(group, j0, j1, c) for strips of columns [j0, j1) of [0, columns) and hands the
// maps x (j1 - j0) results at c on, and as many behind them of each further one of `kinds`.
template <class Sink, class Multiply>
void by_strips(const Patches& p, std::int64_t columns, std::int64_t kinds, const Sink& sink,
               const Multiply& multiply) {
  const std::int64_t outputs = p.outputs(), width = strip_width(p, columns);
  const std::int64_t strips = divide_up(columns, width);
  const auto grain =
      static_cast<std::int64_t>(kParallelWork / std::max(work_of(p, width), 1.0)) + 1;
  parallel_for(p.groups * strips, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t group = task / strips, j0 = task % strips * width;
      const std::int64_t j1 = std::min(j0 + width, columns);
      double* const c = result_buffer(kinds * p.maps * width).data();
      multiply(group, j0, j1, c);
      for (std::int64_t map = 0; map < p.maps; ++map) {
        for (std::int64_t j = j0; j < j1;) {
          const std::int64_t batch = j / outputs, first = j % outputs;
          const std::int64_t count = std::min(outputs - first, j1 - j);
          sink(batch, group * p.maps + map, first, count, c + map * (j1 - j0) + (j - j0),
               p.maps * (j1 - j0));
          j += count;
        }
      }
    }
  });
}

void convolve_pointwise(const Patches& p, const Elements& x, const Elements& w,
                        const PatchSink& sink, PackedWeights* kept) {
  const std::int64_t outputs = p.outputs();
  // A matrix of one row or column is multiplied without packing.
  const bool vector = outputs == 1 || p.maps == 1;
  const PackedWeights packed = vector ? nullptr : pack_weights(p, w, kept);
  for (std::int64_t batch = 0; batch < p.batches; ++batch) {
    const auto shifted = [&](std::int64_t, std::int64_t map, std::int64_t begin, std::int64_t count,
                             double* sums, std::int64_t) { sink(batch, map, begin, count, sums); };
    by_strips(p, outputs, 1, shifted,
              [&](std::int64_t group, std::int64_t j0, std::int64_t j1, double* c) {
                const Elements from = at(x, (batch * p.groups + group) * p.channels * outputs + j0);
                const MatrixView columns = {from.data, from.is_float, outputs, 1};
                if (vector)
                  gemm(p.maps, j1 - j0, p.terms(), weights_of(p, w, group), columns, c, j1 - j0);
                else
                  gemm((*packed)[static_cast<std::size_t>(group)], j1 - j0, columns, c, j1 - j0);
              });
  }
}

PatchTile laid_out(const Patches& p, std::int64_t group, std::int64_t j0, std::int64_t j1) {
  PatchTile tile;
  lay_out(p, group, j0, j1, tile);
  return tile;
}

// The columns [j0, j1) of the matrix of patches. Rows of the image are widened once and then copied
// for each of their taps.
template <class T>
class Strip {
 public:
  Strip(const Patches& p, const T* x, std::int64_t group, std::int64_t j0, std::int64_t j1)
      : p_(p),
        x_(x),
        columns_(j1 - j0),
        tile_(laid_out(p, group, j0, j1)),
        first_(tile_.runs.size() == 1 ? tile_.runs[0].first / p.axes.back().step : 0),
        row_(p.axes.back(), first_,
             tile_.runs.size() == 1 ? tile_.runs[0].count : p.axes.back().outputs) {
    find_rows();
  }

  void take_magnitudes() { magnitudes_ = true; }

  void pack(std::int64_t k0, std::int64_t k1, std::int64_t width, double* panel) const {
    const auto runs = static_cast<std::int64_t>(tile_.runs.size());
    const auto taps = static_cast<std::int64_t>(row_.starts().size());
    const std::int64_t leading = static_cast<std::int64_t>(places_.size()) / runs;
    const std::int64_t first = k0 / (leading * taps), last = (k1 - 1) / (leading * taps);
    RowUnits units;
    units.channel = read_rows(first, last);
    units.channel_size = static_cast<std::int64_t>(sources_.size()) * row_.length();
    units.starts = row_.starts().data();
    units.taps = taps;
    units.leading = leading;
    std::vector<std::int64_t> from, to;
    std::size_t run = 0;
    for (std::int64_t j = 0; j < columns_; j += width, panel += width * (k1 - k0)) {
      run = cut(j, std::min(j + width, columns_), run, from, to);
      units.from = from.data();
      units.to = to.data();
      units.count = static_cast<std::int64_t>(to.size());
      kernels_.copy_units(units, k0, k1, width, panel);
    }
  }

  // Whether eight neighbouring columns always come from one row, and all runs step from leading tap
  // to leading tap alike: then the product can read the rows of the image itself.
  bool is_spread() const {
    const std::size_t runs = tile_.runs.size();
    for (std::size_t i = 0; i < places_.size(); ++i)
      if (places_[i] - places_[i - i % runs] != places_[i % runs] - places_[0]) return false;
    return std::all_of(tile_.runs.begin(), tile_.runs.end(), [](const PatchRun& run) {
      return run.at % kRowUnit == 0 && run.count % kRowUnit == 0;
    });
  }

  SpreadColumns spread(std::int64_t k0, std::int64_t k1) const {
    thread_local std::vector<std::int64_t> rows, eights;
    const std::size_t runs = tile_.runs.size();
    const auto taps = static_cast<std::int64_t>(row_.starts().size());
    const auto leading = static_cast<std::int64_t>(places_.size() / runs);
    const std::int64_t first = k0 / (leading * taps), last = (k1 - 1) / (leading * taps);
    const std::int64_t channel = static_cast<std::int64_t>(sources_.size()) * row_.length();
    std::vector<std::int64_t> of_channel;
    for (std::size_t row = 0; row < places_.size(); row += runs)
      for (const std::int64_t start : row_.starts())
        of_channel.push_back(places_[row] - places_[0] + start);
    rows.clear();
    auto term = of_channel.begin() + k0 % (leading * taps);
    for (std::int64_t k = k0, at = 0; k < k1; ++k) {
      rows.push_back(at + *term);
      if (++term != of_channel.end()) continue;
      term = of_channel.begin();
      at += channel;
    }
    eights.clear();
    for (std::size_t run = 0; run < runs; ++run)
      for (std::int64_t i = 0; i < tile_.runs[run].count; i += kRowUnit)
        eights.push_back(places_[run] + i);
    eights.resize(eights.size() + kMostSliver / kRowUnit);
    return {read_rows(first, last), rows.data(), eights.data()};
  }

 private:
  // A row that is read, where it begins in x; -1 if it lies outside and is all zeros.
  struct Source {
    std::int64_t key, begin;
    bool operator<(const Source& other) const { return key < other.key; }
  };

  // In images of one leading axis, rows outside have places of their own.
  Source source(std::size_t i) const {
    const std::size_t run = i % tile_.runs.size();
    const std::int64_t offset = tile_.row_offsets[i];
    const std::int64_t begin = offset < 0 ? -1 : tile_.runs[run].start + offset;
    if (p_.axes.size() != 2 || tile_.runs.front().start != tile_.runs.back().start)
      return {begin, begin};
    const PatchAxis& axis = p_.axes[0];
    return {tile_.index[run] * axis.step + axis.offsets[i / tile_.runs.size()], begin};
  }

  void find_rows() {
    const std::size_t count = tile_.row_offsets.size(), runs = tile_.runs.size();
    for (std::size_t i = 0; i < count; ++i) sources_.push_back(source(i));
    std::sort(sources_.begin(), sources_.end());
    const auto same = [](const Source& a, const Source& b) { return a.key == b.key; };
    sources_.erase(std::unique(sources_.begin(), sources_.end(), same), sources_.end());
    for (std::size_t i = 0; i < count; ++i) {
      const auto found = std::lower_bound(sources_.begin(), sources_.end(), source(i));
      const std::int64_t output = tile_.runs[i % runs].first / p_.axes.back().step;
      places_.push_back((found - sources_.begin()) * row_.length() + output - first_);
    }
  }

  // The rows of some channels, one channel after the other.
  const double* read_rows(std::int64_t first, std::int64_t last) const {
    thread_local std::vector<double> rows;
    const std::int64_t plane = p_.plane(), length = row_.length();
    const auto size = static_cast<std::size_t>((last - first + 1) * length) * sources_.size();
    if (rows.size() < size + kRowUnit) rows.resize(size + kRowUnit);
    double* to = rows.data();
    for (std::int64_t c = first; c <= last; ++c) {
      for (const Source& source : sources_) {
        if (source.begin < 0)
          std::fill_n(to, length, 0.0);
        else
          row_.read(kernels_, x_ + c * plane + source.begin, to);
        to += length;
      }
    }
    if (magnitudes_) std::for_each(rows.data(), to, [](double& one) { one = std::abs(one); });
    return rows.data();
  }

  // The columns [j0, j1) in units: where they go to, and by leading tap and unit where they come
  // from. Takes the run of the first column and gives that of the next one.
  std::size_t cut(std::int64_t j0, std::int64_t j1, std::size_t run,
                  std::vector<std::int64_t>& from, std::vector<std::int64_t>& to) const {
    const std::size_t runs = tile_.runs.size();
    std::vector<std::size_t> run_of;
    to.clear();
    for (std::int64_t j = j0; j < j1;) {
      const std::int64_t end = tile_.runs[run].at + tile_.runs[run].count;
      for (std::int64_t unit = j; unit < std::min(end, j1); unit += kRowUnit) {
        to.push_back(unit - j0);
        run_of.push_back(run);
      }
      j = std::min(end, j1);
      if (j == end) ++run;
    }
    from.clear();
    for (std::size_t row = 0; row < places_.size(); row += runs)
      for (std::size_t i = 0; i < to.size(); ++i)
        from.push_back(places_[row + run_of[i]] + j0 + to[i] - tile_.runs[run_of[i]].at);
    return run;
  }

  const Patches& p_;
  const T* x_;
  const std::int64_t columns_;
  const PatchTile tile_;
  const std::int64_t first_;  // output along the last axis with which the rows begin
  const PatchRow row_;
  const RowKernels& kernels_ = row_kernels();
  bool magnitudes_ = false;
  std::vector<Source> sources_;
  std::vector<std::int64_t> places_;  // by leading tap and run, among the rows of a channel
};

template <class T>
void multiply(const Strip<T>& strip, const PackedRows& weights, std::int64_t columns, double* c) {
  if (strip.is_spread())
    return gemm_spread(
        weights, columns, [&](std::int64_t k0, std::int64_t k1) { return strip.spread(k0, k1); }, c,
        columns);
  gemm_packed(
      weights, columns,
      [&](std::int64_t k0, std::int64_t k1, std::int64_t width, double* panel) {
        strip.pack(k0, k1, width, panel);
      },
      c, columns);
}

template <class T>
void convolve_patches(const Patches& p, const T* x, const Elements& w, const PatchSink& sink,
                      PackedWeights* kept) {
  const std::int64_t columns = p.batches * p.outputs();
  const bool vector = columns == 1;
  const PackedWeights packed = vector ? nullptr : pack_weights(p, w, kept);
  const auto sums_only = [&](std::int64_t batch, std::int64_t map, std::int64_t begin,
                             std::int64_t count, double* sums,
                             std::int64_t) { sink(batch, map, begin, count, sums); };
  const auto product = [&](std::int64_t group, std::int64_t j0, std::int64_t j1, double* c) {
    const Strip<T> strip(p, x, group, j0, j1);
    if (!vector) return multiply(strip, (*packed)[static_cast<std::size_t>(group)], j1 - j0, c);
    std::vector<double> column(static_cast<std::size_t>(p.terms() + kPanelSlack));
    strip.pack(0, p.terms(), 1, column.data());
    gemm(p.maps, 1, p.terms(), weights_of(p, w, group), {column.data(), false, 1, 1}, c, 1);
  };
  by_strips(p, columns, 1, sums_only, product);
}

// The second product of a strip finds what it reads in the cache.
template <class T>
void convolve_patches_twice(const Patches& p, const T* x, const Elements& w,
                            const MagnitudeSink& sink, PackedWeights* kept) {
  const PackedWeights packed = pack_weights(p, w, kept);
  std::vector<PackedRows> sizes;
  for (const PackedRows& one : *packed) sizes.push_back(one.magnitudes());
  const auto both = [&](std::int64_t batch, std::int64_t map, std::int64_t begin,
                        std::int64_t count, const double* sums,
                        std::int64_t apart) { sink(batch, map, begin, count, sums, sums + apart); };
  const auto products = [&](std::int64_t group, std::int64_t j0, std::int64_t j1, double* c) {
    const auto own = static_cast<std::size_t>(group);
    Strip<T> strip(p, x, group, j0, j1);
    multiply(strip, (*packed)[own], j1 - j0, c);
    strip.take_magnitudes();
    multiply(strip, sizes[own], j1 - j0, c + p.maps * (j1 - j0));
  };
  by_strips(p, p.batches * p.outputs(), 2, both, products);
}

}  // namespace

void convolve_packed(const Patches& p, const Elements& x, const Elements& w, const PatchSink& sink,
                     PackedWeights* kept) {
  // Sums of no terms read nothing.
  if (is_pointwise(p) || p.terms() == 0) return convolve_pointwise(p, x, w, sink, kept);
  if (x.is_float) return convolve_patches(p, static_cast<const float*>(x.data), w, sink, kept);
  convolve_patches(p, static_cast<const double*>(x.data), w, sink, kept);
}

void convolve_packed_twice(const Patches& p, const Elements& x, const Elements& w,
                           const MagnitudeSink& sink, PackedWeights* kept) {
  if (x.is_float)
    return convolve_patches_twice(p, static_cast<const float*>(x.data), w, sink, kept);
  convolve_patches_twice(p, static_cast<const double*>(x.data), w, sink, kept);
}

}  // namespace assay

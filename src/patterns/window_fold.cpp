// Folding of windows, one axis after the other: windows are boxes, so that rows can be joined along
// the leading axes first, and what is left along the last axis after. Each is a pass over
// contiguous memory.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "patterns/row_kernels.h"
#include "patterns/window.h"
#include "tensor/convert.h"

namespace assay {
namespace {

// Neighbouring windows along an axis that have the same taps inside of the input.
struct Stretch {
  std::int64_t begin, end;
  std::int64_t first, count;  // window o reads o * stride + first, and on by dilations
};

struct AxisPlan {
  std::int64_t extent, outputs, stride, dilation;
  std::vector<Stretch> stretches;
  std::vector<double> insides, paddeds;  // by window
};

AxisPlan plan_of(const WindowGeometry& g, std::size_t d) {
  AxisPlan plan{g.extents[d], g.outputs[d], g.strides[d], g.dilations[d], {}, {}, {}};
  for (std::int64_t o = 0; o < plan.outputs; ++o) {
    const WindowSpan span = window_span(g, d, o);
    plan.insides.push_back(static_cast<double>(span.inside));
    plan.paddeds.push_back(static_cast<double>(span.covered));
    const Stretch next{o, o + 1, span.inside == 0 ? 0 : span.position - o * plan.stride,
                       span.inside};
    if (!plan.stretches.empty() && plan.stretches.back().first == next.first &&
        plan.stretches.back().count == next.count)
      plan.stretches.back().end = next.end;
    else
      plan.stretches.push_back(next);
  }
  return plan;
}

// Where the last axis is read from: rows with their padding, split by remainders of the stride
// (phases), so that neighbouring windows read neighbouring elements.
struct LastPlan {
  AxisPlan axis;
  std::vector<std::int64_t> phases;                        // those that a tap reads
  std::vector<std::pair<std::size_t, std::int64_t>> taps;  // phase and shift of each
  std::int64_t base = 0;   // element i of a phase is at (i + base) * stride + phase
  std::int64_t pitch = 0;  // elements of a phase of a row
};

std::int64_t divide_down(std::int64_t a, std::int64_t b) {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}

LastPlan last_plan_of(const WindowGeometry& g) {
  LastPlan plan;
  plan.axis = plan_of(g, g.extents.size() - 1);
  const std::int64_t stride = plan.axis.stride;
  std::int64_t low = std::numeric_limits<std::int64_t>::max();
  std::int64_t high = std::numeric_limits<std::int64_t>::min(), most = 0;
  for (const Stretch& stretch : plan.axis.stretches) {
    if (stretch.count == 0) continue;
    const std::int64_t end = stretch.first + (stretch.count - 1) * plan.axis.dilation;
    high = std::max(high, end);
    low = std::min(low, stretch.first);
  }
  if (low <= high) plan.base = divide_down(low, stride);
  for (std::int64_t offset = low; offset <= high; offset += plan.axis.dilation) {
    const std::int64_t whole = divide_down(offset, stride), phase = offset - whole * stride;
    const auto at = std::find(plan.phases.begin(), plan.phases.end(), phase) - plan.phases.begin();
    if (at == static_cast<std::ptrdiff_t>(plan.phases.size())) plan.phases.push_back(phase);
    plan.taps.emplace_back(static_cast<std::size_t>(at), whole - plan.base);
    most = std::max(most, whole - plan.base);
  }
  plan.pitch = plan.axis.outputs + most;
  return plan;
}

struct Plan {
  std::vector<AxisPlan> leading;
  LastPlan last;
  const RowKernels* kernels;
};

// The loops of one kind of fold, from stored elements and from its own results.
template <class T>
struct Maximum {
  using Result = T;
  static constexpr T start() {
    return std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                       : std::numeric_limits<T>::lowest();
  }
  static void fold(const RowKernels& k, const T* const* rows, std::int64_t terms,
                   std::int64_t count, T* out) {
    if constexpr (std::is_same_v<T, float>) {
      k.max_floats(rows, terms, count, out);
    } else if constexpr (std::is_same_v<T, double>) {
      k.max_doubles(rows, terms, count, out);
    } else {
      constexpr std::int64_t kBlock = 16;
      std::copy_n(rows[0], count, out);
      for (std::int64_t t = 1; t < terms; ++t) {
        std::int64_t j = 0;
        for (; j + kBlock <= count; j += kBlock)
          for (std::int64_t i = 0; i < kBlock; ++i)
            out[j + i] = std::max(out[j + i], rows[t][j + i]);
        for (; j < count; ++j) out[j] = std::max(out[j], rows[t][j]);
      }
    }
  }
};

struct Sum {
  using Result = double;
  static constexpr double start() { return 0; }
  static void fold(const RowKernels& k, const float* const* rows, std::int64_t terms,
                   std::int64_t count, double* out) {
    k.add_floats(rows, terms, count, out);
  }
  static void fold(const RowKernels& k, const double* const* rows, std::int64_t terms,
                   std::int64_t count, double* out) {
    k.add_doubles(rows, terms, count, out);
  }
};

// One leading axis: `before` x extent x `behind` elements become before x outputs x behind.
template <class Fold, class From>
void fold_axis(const AxisPlan& plan, const RowKernels& kernels, std::int64_t before,
               std::int64_t behind, const From* x, typename Fold::Result* out) {
  std::vector<const From*> rows;
  for (std::int64_t a = 0; a < before; ++a) {
    for (const Stretch& stretch : plan.stretches) {
      const bool together = plan.stride == 1 || stretch.count == 0;
      const std::int64_t step = together ? stretch.end - stretch.begin : 1;
      for (std::int64_t o = stretch.begin; o < stretch.end; o += step) {
        auto* const to = out + (a * plan.outputs + o) * behind;
        rows.clear();
        const From* const first = x + (a * plan.extent + o * plan.stride + stretch.first) * behind;
        for (std::int64_t t = 0; t < stretch.count; ++t)
          rows.push_back(first + t * plan.dilation * behind);
        if (rows.empty())
          std::fill_n(to, step * behind, Fold::start());
        else
          Fold::fold(kernels, rows.data(), static_cast<std::int64_t>(rows.size()), step * behind,
                     to);
      }
    }
  }
}

template <class T>
void split_pairs(const RowKernels& k, const T* x, std::int64_t count, T* even, T* odd) {
  if constexpr (std::is_same_v<T, float>)
    k.split_floats(x, count, even, odd);
  else if constexpr (std::is_same_v<T, double>)
    k.split_doubles(x, count, even, odd);
  else
    for (std::int64_t j = 0; j < count; ++j) even[j] = x[2 * j], odd[j] = x[2 * j + 1];
}

// A row's phases; `apart` elements lie between one phase of it and the next.
template <class T>
void lay_row(const LastPlan& plan, const RowKernels& k, T filler, const T* row, T* out,
             std::int64_t apart) {
  const std::int64_t stride = plan.axis.stride, width = plan.axis.extent;
  std::int64_t done = 0;  // elements of each phase that are in place, from position 0 on
  if (stride == 2 && plan.phases.size() == 2 && plan.base <= 0) {
    done = std::min(width / 2, plan.pitch + plan.base);
    const bool in_order = plan.phases[0] == 0;
    split_pairs(k, row, done, out - plan.base + (in_order ? 0 : apart),
                out - plan.base + (in_order ? apart : 0));
  }
  for (std::size_t p = 0; p < plan.phases.size(); ++p) {
    T* const to = out + static_cast<std::int64_t>(p) * apart;
    const std::int64_t first = plan.base * stride + plan.phases[p];  // position of element 0
    const std::int64_t lo = std::min(plan.pitch, first >= 0 ? 0 : (-first + stride - 1) / stride);
    const std::int64_t room = width - first;
    const std::int64_t hi =
        std::clamp<std::int64_t>(room <= 0 ? 0 : (room + stride - 1) / stride, lo, plan.pitch);
    std::fill_n(to, lo, filler);
    if (stride == 1)
      std::copy_n(row + first + lo, hi - lo, to + lo);
    else
      for (std::int64_t i = std::max(lo, done > 0 ? done - plan.base : 0); i < hi; ++i)
        to[i] = row[first + i * stride];
    std::fill_n(to + hi, plan.pitch - hi, filler);
  }
}

template <class T>
struct Buffers {
  std::vector<T> leading[2], laid, folded;
};

// Calls put(first row, rows, values, pitch) with the results of some rows of windows at a time.
template <class T, class Fold, class Put>
void fold_last(const Plan& plan, const T* x, std::int64_t rows, std::vector<T>& laid,
               std::vector<typename Fold::Result>& folded, const Put& put) {
  constexpr std::int64_t kAtATime = 4096;
  const LastPlan& last = plan.last;
  const std::int64_t at_a_time = std::clamp<std::int64_t>(kAtATime / last.pitch, 1, rows);
  const std::int64_t apart = at_a_time * last.pitch;
  laid.resize(last.phases.size() * static_cast<std::size_t>(apart));
  folded.resize(static_cast<std::size_t>(apart));
  const T filler = static_cast<T>(Fold::start());
  std::vector<const T*> taps;
  for (const auto& [phase, shift] : last.taps)
    taps.push_back(laid.data() + static_cast<std::int64_t>(phase) * apart + shift);
  for (std::int64_t r = 0; r < rows; r += at_a_time) {
    const std::int64_t count = std::min(at_a_time, rows - r);
    for (std::int64_t i = 0; i < count; ++i)
      lay_row(last, *plan.kernels, filler, x + (r + i) * last.axis.extent,
              laid.data() + i * last.pitch, apart);
    const std::int64_t size = (count - 1) * last.pitch + last.axis.outputs;
    if (taps.empty())
      std::fill_n(folded.begin(), size, Fold::start());
    else
      Fold::fold(*plan.kernels, taps.data(), static_cast<std::int64_t>(taps.size()), size,
                 folded.data());
    put(r, count, folded.data(), last.pitch);
  }
}

// All windows of one channel.
template <class Fold, class T, class Put>
void fold_channel(const Plan& plan, const T* x, Buffers<T>& first,
                  Buffers<typename Fold::Result>& own, const Put& put) {
  using Result = typename Fold::Result;
  std::int64_t before = 1, behind = plan.last.axis.extent;
  for (const AxisPlan& axis : plan.leading) behind *= axis.extent;
  const Result* joined = nullptr;
  for (std::size_t d = 0; d < plan.leading.size(); ++d) {
    const AxisPlan& axis = plan.leading[d];
    behind /= std::max<std::int64_t>(axis.extent, 1);
    std::vector<Result>& to = own.leading[d % 2];
    to.resize(static_cast<std::size_t>(before * axis.outputs * behind));
    if (d == 0)
      fold_axis<Fold>(axis, *plan.kernels, before, behind, x, to.data());
    else
      fold_axis<Fold>(axis, *plan.kernels, before, behind, joined, to.data());
    joined = to.data();
    before *= axis.outputs;
  }
  if (joined)
    fold_last<Result, Fold>(plan, joined, before, own.laid, own.folded, put);
  else
    fold_last<T, Fold>(plan, x, before, first.laid, own.folded, put);
}

// The windows inside and padded of row r, without the last axis.
std::pair<double, double> counts_of(const Plan& plan, std::int64_t r) {
  double inside = 1, padded = 1;
  for (std::size_t d = plan.leading.size(); d-- > 0;) {
    const auto o = static_cast<std::size_t>(r % plan.leading[d].outputs);
    inside *= plan.leading[d].insides[o];
    padded *= plan.leading[d].paddeds[o];
    r /= plan.leading[d].outputs;
  }
  return {inside, padded};
}

template <class T>
void maxima(const Plan& plan, const T* x, Buffers<T>& buffers, T* y) {
  const std::int64_t outputs = plan.last.axis.outputs;
  fold_channel<Maximum<T>>(
      plan, x, buffers, buffers,
      [&](std::int64_t r, std::int64_t count, const T* values, std::int64_t pitch) {
        for (std::int64_t i = 0; i < count; ++i)
          std::copy_n(values + i * pitch, outputs, y + (r + i) * outputs);
      });
}

template <class From, class T>
void sums(const Plan& plan, const From* x, Buffers<From>& first, Buffers<double>& buffers,
          const std::function<void(const FoldedRow&)>& finish, ElementType type, T* y) {
  const std::int64_t outputs = plan.last.axis.outputs;
  const auto put = [&](std::int64_t r, std::int64_t count, double* values, std::int64_t pitch) {
    for (std::int64_t i = 0; i < count; ++i) {
      const auto [inside, padded] = counts_of(plan, r + i);
      const std::span<double> row(values + i * pitch, static_cast<std::size_t>(outputs));
      finish({row, inside, padded, plan.last.axis.insides.data(), plan.last.axis.paddeds.data()});
      T* const to = y + (r + i) * outputs;
      if (type == ElementType::f32)
        plan.kernels->narrow(row.data(), 0, outputs, static_cast<float*>(static_cast<void*>(to)));
      else
        from_doubles(type, row.data(), outputs, to);
    }
  };
  fold_channel<Sum>(plan, x, first, buffers, put);
}

template <class T>
void sums_of_mapped(const Plan& plan, Fold fold, const T* x, std::int64_t size,
                    Buffers<double>& buffers, const std::function<void(const FoldedRow&)>& finish,
                    ElementType type, T* y) {
  std::vector<double> mapped(static_cast<std::size_t>(size));
  for (std::int64_t i = 0; i < size; ++i) {
    const double element = x[i];
    mapped[static_cast<std::size_t>(i)] =
        fold == Fold::sum_of_squares ? element * element : std::abs(element);
  }
  sums(plan, mapped.data(), buffers, buffers, finish, type, y);
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
  const std::int64_t in_size = element_count(g.extents), out_size = element_count(g.outputs);
  Plan plan{{}, last_plan_of(g), &row_kernels()};
  for (std::size_t d = 0; d + 1 < g.extents.size(); ++d) plan.leading.push_back(plan_of(g, d));
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 15) / std::max(in_size, out_size));
  visit_storage(x.type(), [&]<class T>(T*) {
    constexpr bool kReal = std::is_floating_point_v<T>;
    if constexpr (kReal || std::is_same_v<T, std::int8_t> || std::is_same_v<T, std::uint8_t>) {
      const T* const from = x.data<T>().data();
      T* const to = y.mutate<T>().data();
      parallel_for(shape[0] * shape[1], grain, [&](std::int64_t begin, std::int64_t end) {
        Buffers<T> first;
        Buffers<double> own;
        for (std::int64_t c = begin; c < end; ++c) {
          const T* const channel = from + c * in_size;
          T* const out = to + c * out_size;
          if (fold == Fold::maximum) {
            maxima(plan, channel, first, out);
          } else if constexpr (kReal) {
            if (fold == Fold::sum)
              sums(plan, channel, first, own, finish, x.type(), out);
            else
              sums_of_mapped(plan, fold, channel, in_size, own, finish, x.type(), out);
          }
        }
      });
    }
  });
  return y;
}

}  // namespace assay

#include "ops/sample_resample.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/parallel.h"
#include "patterns/array.h"
#include "patterns/elementwise.h"

namespace assay {
namespace {

// How much of the tensor is resampled at once: the axes in front that stay as they are count
// blocks.
struct Blocks {
  std::size_t lead = 0;  // axes that only count
  std::int64_t count = 1, input = 1, output = 1;
};

Blocks blocks_of(const SamplingRule& rule, const std::vector<SampledAxis>& axes) {
  Blocks blocks;
  while (blocks.lead < axes.size() && axes[blocks.lead].is_identity(rule))
    blocks.count *= axes[blocks.lead++].input;
  for (std::size_t d = blocks.lead; d < axes.size(); ++d) {
    blocks.input *= axes[d].input;
    blocks.output *= axes[d].output;
  }
  return blocks;
}

void for_blocks(const Blocks& blocks, const std::function<void(std::int64_t, std::int64_t)>& body) {
  constexpr std::int64_t kGrain = 1 << 15;
  parallel_for(blocks.count, kGrain / std::max<std::int64_t>(blocks.output, 1) + 1, body);
}

// Copies of elements along several axes: index -1 is the fill.
struct Picks {
  struct Axis {
    std::vector<std::int64_t> index;
    std::int64_t from_stride, to_stride;
  };
  std::vector<Axis> axes;
  std::int64_t tail = 1;  // elements in a row that stay together
};

template <class T>
void pick(const Picks& picks, std::size_t d, const T* from, T* to, const T& fill) {
  if (d == picks.axes.size()) {
    std::copy_n(from, picks.tail, to);
    return;
  }
  const Picks::Axis& axis = picks.axes[d];
  const std::int64_t count = static_cast<std::int64_t>(axis.index.size());
  const std::int64_t* index = axis.index.data();
  if (d + 1 == picks.axes.size() && picks.tail == 1) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = index[i] < 0 ? fill : from[index[i]];
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    T* target = to + i * axis.to_stride;
    if (index[i] < 0)
      std::fill_n(target, axis.to_stride, fill);
    else if (i > 0 && index[i] == index[i - 1])
      std::copy_n(target - axis.to_stride, axis.to_stride, target);
    else
      pick(picks, d + 1, from + index[i] * axis.from_stride, target, fill);
  }
}

Picks make_picks(const Blocks& blocks, const SamplingRule& rule,
                 const std::vector<SampledAxis>& axes, const std::vector<AxisTaps<double>>& taps) {
  Picks picks;
  std::size_t end = axes.size();
  while (end > blocks.lead && axes[end - 1].is_identity(rule)) picks.tail *= axes[--end].input;
  std::int64_t from = picks.tail, to = picks.tail;
  for (std::size_t d = end; d-- > blocks.lead;) {
    Picks::Axis axis{{}, from, to};
    for (std::int64_t i = 0; i < axes[d].output; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const bool outside =
          !taps[d].places.empty() && taps[d].places[at] != AxisTaps<double>::inside;
      axis.index.push_back(taps[d].first.empty() ? i : outside ? -1 : taps[d].index[at]);
    }
    from *= axes[d].input;
    to *= axes[d].output;
    picks.axes.insert(picks.axes.begin(), std::move(axis));
  }
  return picks;
}

template <class T>
void pick_all(const Blocks& blocks, const Picks& picks, const T* from, T* to, const T& fill) {
  for_blocks(blocks, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end; ++b)
      pick(picks, 0, from + b * blocks.input, to + b * blocks.output, fill);
  });
}

// What is read along each axis. Of a long one that takes more than the elements themselves, also
// where there are none because another axis is empty.
template <class S>
std::vector<AxisTaps<S>> taps_of(const SamplingRule& rule, const std::vector<SampledAxis>& axes) {
  constexpr std::size_t kTapBytes = 64;
  std::vector<AxisTaps<S>> taps(axes.size());
  for (std::size_t d = 0; d < axes.size(); ++d) {
    if (axes[d].is_identity(rule)) continue;
    if (static_cast<std::size_t>(axes[d].output) > memory_limit() / kTapBytes)
      throw MemoryLimitError(
          fmt::format("an axis of {} elements exceeds the memory limit", axes[d].output));
    taps[d] = axis_taps<S>(rule, axes[d]);
  }
  return taps;
}

// Elements moved as they lie in memory, with their errors or ranges.
Value picked(const Call& call, const SamplingRule& rule, const std::vector<SampledAxis>& axes,
             const Shape& shape, double outside) {
  const Value& x = call.input(0);
  const Blocks blocks = blocks_of(rule, axes);
  const Picks picks = make_picks(blocks, rule, axes, taps_of<double>(rule, axes));
  if (x.intervals()) {
    std::vector<Interval> ranges(static_cast<std::size_t>(element_count(shape)));
    pick_all(blocks, picks, x.intervals()->data(), ranges.data(), Interval::point(outside));
    return Value::ranges(x.type(), shape, std::move(ranges));
  }
  Tensor y = Tensor::uninitialized(x.type(), shape);
  visit_storage(x.type(), [&]<class T>(T*) {
    T fill{};
    if constexpr (!std::is_same_v<T, std::string>)
      fill = make_scalar(x.type(), outside).data<T>()[0];
    pick_all(blocks, picks, x.tensor().data<T>().data(), y.mutate<T>().data(), fill);
  });
  if (!x.errors()) return Value(std::move(y));
  Buffer<double> errors(static_cast<std::size_t>(element_count(shape)));
  pick_all(blocks, picks, x.errors()->data(), errors.data(), 0.0);
  return Value::bounded(std::move(y), std::move(errors));
}

// One axis of a block: `outer` rows of extent x inner elements.
struct Rows {
  std::int64_t outer, extent, inner;
};

template <bool first>
void add_scaled(const double* __restrict x, double w, std::int64_t count, double* __restrict y) {
  elementwise_detail::for_each_index(
      count, [&](std::int64_t k) { y[k] = first ? w * x[k] : y[k] + w * x[k]; });
}

// Every output element has one choice.
void apply(const AxisTaps<double>& taps, const Rows& rows, const double* x, double* y) {
  const auto outputs = static_cast<std::int64_t>(taps.choices.size());
  const std::int64_t* index = taps.index.data();
  const double* weight = taps.weight.data();
  const bool pairs = taps.index.size() == 2 * taps.choices.size() &&
                     std::all_of(taps.choices.begin(), taps.choices.end(),
                                 [](const auto& choice) { return choice.count == 2; });
  for (std::int64_t o = 0; o < rows.outer; ++o, x += rows.extent * rows.inner) {
    if (rows.inner == 1 && pairs) {
      for (std::int64_t i = 0; i < outputs; ++i)
        y[i] = weight[2 * i] * x[index[2 * i]] + weight[2 * i + 1] * x[index[2 * i + 1]];
      y += outputs;
      continue;
    }
    for (const auto& [begin, count] : taps.choices) {
      add_scaled<true>(x + index[begin] * rows.inner, weight[begin], rows.inner, y);
      for (std::size_t t = begin + 1; t < begin + count; ++t)
        add_scaled<false>(x + index[t] * rows.inner, weight[t], rows.inner, y);
      y += rows.inner;
    }
  }
}

template <class S>
void apply(const AxisTaps<S>& taps, const Rows& rows, const S* x, S* y) {
  std::vector<S> values;
  const std::size_t outputs = taps.first.size() - 1;
  const auto choose = [&](const typename AxisTaps<S>::Choice& choice, const S* row) {
    const std::span<const S> weights(taps.weight.data() + choice.begin, choice.count);
    values.clear();
    for (std::size_t t = 0; t < choice.count; ++t)
      values.push_back(row[taps.index[choice.begin + t] * rows.inner]);
    if (choice.count > 1) return dot(weights, std::span<const S>(values));
    return to_double(weights[0]) == 1 ? values[0] : weights[0] * values[0];
  };
  for (std::int64_t o = 0; o < rows.outer; ++o, x += rows.extent * rows.inner)
    for (std::size_t i = 0; i < outputs; ++i)
      for (std::int64_t k = 0; k < rows.inner; ++k) {
        S result = choose(taps.choices[taps.first[i]], x + k);
        for (std::size_t c = taps.first[i] + 1; c < taps.first[i + 1]; ++c)
          result = hull(result, choose(taps.choices[c], x + k));
        *y++ = result;
      }
}

// Replaces what certainly lies outside, and joins what may.
template <class S>
void fill_outside(const std::vector<SampledAxis>& axes, const std::vector<AxisTaps<S>>& taps,
                  std::size_t lead, const S& fill, std::vector<S>& y) {
  using Taps = AxisTaps<S>;
  std::int64_t inner = static_cast<std::int64_t>(y.size());
  for (std::size_t d = lead; d < axes.size() && inner > 0; ++d) {
    inner /= axes[d].output;
    if (taps[d].places.empty()) continue;
    for (std::size_t i = 0; i < y.size(); ++i) {
      const auto place = taps[d].places[i / static_cast<std::size_t>(inner) %
                                        static_cast<std::size_t>(axes[d].output)];
      if (place == Taps::outside) y[i] = fill;
      if (place == Taps::unsure) y[i] = Plain<S> ? fill : hull(y[i], fill);
    }
  }
}

template <class S>
Value weighed(const Call& call, const SamplingRule& rule, const std::vector<SampledAxis>& axes,
              const Shape& shape, double outside) {
  const Value& x = call.input(0);
  const Rounding& format = rounding_of(is_real(x.type()) ? x.type() : ElementType::f32);
  const std::vector<AxisTaps<S>> taps = taps_of<S>(rule, axes);
  const Blocks blocks = blocks_of(rule, axes);
  Settler<S> settler(x.type(), shape);
  for_blocks(blocks, [&](std::int64_t begin, std::int64_t end) {
    const RoundingScope scope(format);
    std::vector<S> from, to;
    for (std::int64_t b = begin; b < end; ++b) {
      from.resize(static_cast<std::size_t>(blocks.input));
      load<S>(x, b * blocks.input, (b + 1) * blocks.input, from.data());
      Rows rows{1, 1, blocks.input};
      for (std::size_t d = blocks.lead; d < axes.size(); ++d) {
        rows.extent = axes[d].input;
        rows.inner = rows.extent == 0 ? 0 : rows.inner / rows.extent;
        if (!taps[d].first.empty()) {
          to.resize(static_cast<std::size_t>(rows.outer * axes[d].output * rows.inner));
          apply(taps[d], rows, from.data(), to.data());
          std::swap(from, to);
        }
        rows.outer *= axes[d].output;
      }
      fill_outside(axes, taps, blocks.lead, constant<S>(outside), from);
      if (!is_real(x.type()))
        for (S& y : from) y = as_element(x.type(), y);
      settler.put(b * blocks.output, blocks.output, from.data());
    }
  });
  return settler.finish();
}

bool any_choice(const SamplingRule& rule, const std::vector<SampledAxis>& axes) {
  for (const AxisTaps<Bounded>& taps : taps_of<Bounded>(rule, axes))
    if (!taps.first.empty() && !taps.certain()) return true;
  return false;
}

}  // namespace

Value resampled(const Call& call, const SamplingRule& rule, const std::vector<SampledAxis>& axes,
                double outside) {
  Shape shape;
  for (const SampledAxis& axis : axes) shape.push_back(axis.output);
  if (element_count(shape) == 0 && call.input(0).exact())
    return Value(Tensor(call.input(0).type(), shape));
  if (rule.kernel == SamplingRule::Kernel::nearest) {
    if (call.reading == Reading::value || !any_choice(rule, axes))
      return picked(call, rule, axes, shape, outside);
    const Domain domain = domain_of(call.input(0).type());
    if (domain == Domain::text || domain == Domain::complex) return Value::unknown();
  }
  switch (call.reading) {
    case Reading::value:
      return weighed<double>(call, rule, axes, shape, outside);
    case Reading::bounded:
      return weighed<Bounded>(call, rule, axes, shape, outside);
    case Reading::interval:
      break;
  }
  return weighed<Interval>(call, rule, axes, shape, outside);
}

}  // namespace assay

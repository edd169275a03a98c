// The transposed convolution: what a convolution's gradient does to its input.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "ops/conv.h"
#include "ops/pool.h"
#include "ops/window_checks.h"
#include "tensor/convert.h"

namespace assay {
namespace {

// Input i reaches the outputs i * stride + t * dilation - begin, one for each tap t.
struct SpreadAxis {
  std::int64_t extent, kernel, stride, dilation, begin, outputs;
  std::int64_t excess;  // outputs that are asked for beyond what is reached
};

bool is_same(const WindowAttributes& a) { return a.auto_pad.starts_with("SAME"); }

// An axis whose extent is known; nullopt where numbers leave the limits.
std::optional<SpreadAxis> spread_axis(const Site& site, const WindowAttributes& a, std::size_t d,
                                      std::int64_t extent) {
  std::vector<std::int64_t> shape = site.integers("output_shape");
  // Version 1 does not say whether N and C are part of it; files have both forms.
  if (shape.size() == a.kernel.size() + 2) shape.erase(shape.begin(), shape.begin() + 2);
  const std::vector<std::int64_t>& more = site.integers("output_padding");
  SpreadAxis axis{extent, a.kernel[d], a.strides[d], a.dilations[d], a.pads[d], 0, 0};
  if (extent >= kWindowLimit / axis.stride) return std::nullopt;
  const std::int64_t full = axis.stride * (extent - 1) + (more.empty() ? 0 : more[d]) +
                            (axis.kernel - 1) * axis.dilation + 1;
  if (shape.empty() && !is_same(a)) {
    axis.outputs = full - a.pads[d] - a.pads[d + a.kernel.size()];
    return axis;
  }
  axis.outputs = shape.empty() ? extent * axis.stride : shape[d];
  const std::int64_t padding = std::max<std::int64_t>(0, full - axis.outputs);
  axis.begin = a.auto_pad == "SAME_UPPER" ? padding / 2 : padding - padding / 2;
  axis.excess = std::max<std::int64_t>(0, axis.outputs - full);
  return axis;
}

bool require_spread_attributes(Check& c) {
  if (!require_window_attributes(c, "X") || !c.same_rank("X", "W")) return false;
  const std::int64_t spatial = *c.rank_of("X") - 2;
  bool good = c.length("output_padding", spatial);
  good = c.not_negative({"output_padding"}) && good;
  const bool whole =
      c.site.version() < 11 &&
      static_cast<std::int64_t>(c.site.integers("output_shape").size()) == spatial + 2;
  good = c.length("output_shape", whole ? spatial + 2 : spatial) && good;
  return c.positive({"output_shape", "group"}) && good;
}

bool require_spread_weights(Check& c) {
  const Dims &x = *c.dims("X"), &w = *c.dims("W");
  const std::int64_t group = c.site.integer("group", 1);
  bool good = c.divisible(x[1], group, "the number of channels");
  good = c.weight_extent("W", 0, x[1], "the channels of X") && good;
  const std::vector<std::int64_t>& kernel = c.site.integers("kernel_shape");
  for (std::size_t d = 0; d < kernel.size(); ++d)
    good =
        c.weight_extent("W", static_cast<std::int64_t>(d) + 2, kernel[d], "kernel_shape") && good;
  if (c.index_of("B") && c.rank("B", exactly(1)))
    good = c.weight_extent("B", 0, w[1] * Dim(group), "the number of maps") && good;
  return good;
}

void require_conv_transpose(Check& c) {
  if (!require_spread_attributes(c) || !require_spread_weights(c)) return;
  const Dims &x = *c.dims("X"), &w = *c.dims("W");
  const WindowAttributes a = conv_attributes(c.site, x, w);
  if (a.kernel.empty()) return c.undecided("window-fits", "the extents of the kernel");
  if (!c.argument(in_window_limits(a), "window-fits", "windows and paddings below 2^48",
                  "larger ones"))
    return;
  const std::vector<std::int64_t>& more = c.site.integers("output_padding");
  Dims y = {x[0], w[1] * Dim(c.site.integer("group", 1))};
  for (std::size_t d = 0; d < a.kernel.size(); ++d) {
    if (!more.empty() &&
        !c.argument(more[d] == 0 || more[d] < std::max(a.strides[d], a.dilations[d]),
                    "output-padding", "output_padding below the stride or the dilation",
                    fmt::format("{}", more[d])))
      return;
    const Dim& extent = x[d + 2];
    if (!extent.known()) {
      c.undecided("window-fits", fmt::format("extent {} of X", d + 2));
      continue;
    }
    const auto axis = spread_axis(c.site, a, d, extent.value);
    if (!c.argument(axis && extent.value > 0 && axis->outputs > 0, "window-fits",
                    fmt::format("an output along axis {}", d + 2), "none"))
      return;
    if (!c.argument(is_same(a) || axis->excess < axis->stride, "output-shape",
                    fmt::format("output_shape within reach of the kernel along axis {}", d + 2),
                    fmt::format("{}", axis->outputs)))
      return;
    y.push_back(axis->outputs);
  }
  require_size(c, y);
}

void infer_conv_transpose(Infer& n) {
  const Dims *x = n.dims(0), *w = n.dims(1);
  if (!x || x->size() < 3) return n.output(0, n.element(0));
  const bool paired = w && w->size() == x->size();
  Dims y = {(*x)[0], paired ? (*w)[1] * Dim(n.site.integer("group", 1)) : Dim()};
  const WindowAttributes a = conv_attributes(n.site, *x, paired ? *w : Dims{});
  const std::size_t spatial = x->size() - 2;
  const std::size_t shape = n.site.integers("output_shape").size();
  const std::size_t more = n.site.integers("output_padding").size();
  const bool whole = has_lengths(a, spatial) && (more == 0 || more == spatial) &&
                     (shape == 0 || shape == spatial || shape == spatial + 2);
  for (std::size_t d = 0; d < spatial; ++d) {
    const Dim& extent = (*x)[d + 2];
    const bool known = extent.known() && whole;
    const auto axis = known ? spread_axis(n.site, a, d, extent.value) : std::nullopt;
    y.push_back(axis ? Dim(axis->outputs) : Dim());
  }
  n.output(0, n.element(0), y);
}

// Outputs whose positions leave the same remainder by the stride read the same taps, at
// neighbouring inputs: together they are a convolution.
struct Phase {
  std::int64_t first;              // the first of its outputs; the others follow by strides
  std::vector<std::int64_t> taps;  // of the kernel
  PatchAxis axis;
};

std::vector<Phase> phases_of(const SpreadAxis& s) {
  std::map<std::int64_t, Phase> phases;
  for (std::int64_t t = 0; t < s.kernel; ++t) {
    const std::int64_t place = t * s.dilation - s.begin;  // where input 0 arrives
    const std::int64_t first = (place % s.stride + s.stride) % s.stride;
    if (first >= s.outputs) continue;
    Phase& phase = phases[first];
    phase.first = first;
    phase.taps.push_back(t);
    phase.axis.extent = s.extent;
    phase.axis.outputs = (s.outputs - first + s.stride - 1) / s.stride;
    const std::int64_t offset = (first - place) / s.stride;
    const bool never = offset >= s.extent || offset + phase.axis.outputs - 1 < 0;
    phase.axis.offsets.push_back(never ? s.extent : offset);
  }
  std::vector<Phase> result;
  for (auto& [first, phase] : phases) result.push_back(std::move(phase));
  return result;
}

struct Spread {
  std::vector<SpreadAxis> axes;
  std::vector<std::vector<Phase>> phases;  // by axis
  std::int64_t batches, groups, channels, maps, outputs = 1;

  explicit Spread(const Call& call) {
    const Shape &x = call.input(0).shape(), &w = call.input(1).shape();
    const WindowAttributes a = conv_attributes(call.site, to_dims(x), to_dims(w));
    batches = x[0];
    groups = call.site.integer("group", 1);
    channels = x[1] / groups;
    maps = w[1];
    for (std::size_t d = 0; d < a.kernel.size(); ++d) {
      axes.push_back(*spread_axis(call.site, a, d, x[d + 2]));
      phases.push_back(phases_of(axes.back()));
      outputs *= axes.back().outputs;
    }
  }

  // Calls visit(patches, phase by axis) for each combination of phases.
  template <class Visit>
  void for_phases(const Visit& visit) const {
    std::vector<std::size_t> at(axes.size());
    for (const auto& some : phases)
      if (some.empty()) return;
    while (true) {
      Patches p;
      p.batches = batches;
      p.groups = groups;
      p.channels = channels;
      p.maps = maps;
      std::vector<const Phase*> chosen;
      for (std::size_t d = 0; d < axes.size(); ++d) {
        chosen.push_back(&phases[d][at[d]]);
        p.axes.push_back(chosen.back()->axis);
      }
      visit(p, chosen);
      std::size_t d = axes.size();
      while (d-- > 0) {
        if (++at[d] < phases[d].size()) break;
        at[d] = 0;
        if (d == 0) return;
      }
    }
  }

  // The weights (C x M/group x kernel) of a phase as groups x maps x channels x taps.
  template <class S>
  std::vector<S> weights(const S* w, const Patches& p,
                         const std::vector<const Phase*>& chosen) const {
    std::vector<std::int64_t> places = {0};  // of the taps in a kernel
    std::int64_t size = 1;
    for (std::size_t d = 0; d < axes.size(); ++d) {
      std::vector<std::int64_t> next;
      for (std::int64_t base : places)
        for (std::int64_t t : chosen[d]->taps) next.push_back(base * axes[d].kernel + t);
      places.swap(next);
      size *= axes[d].kernel;
    }
    std::vector<S> result;
    result.reserve(static_cast<std::size_t>(groups * maps * p.terms()));
    for (std::int64_t g = 0; g < groups; ++g)
      for (std::int64_t m = 0; m < maps; ++m)
        for (std::int64_t c = 0; c < channels; ++c)
          for (std::int64_t place : places)
            result.push_back(w[((g * channels + c) * maps + m) * size + place]);
    return result;
  }

  // Puts neighbouring outputs of a phase, from its output `begin` on, to their places in a map.
  template <class T>
  void put(const Patches& p, const std::vector<const Phase*>& chosen, std::int64_t begin,
           std::int64_t count, const T* from, T* map) const {
    const PatchAxis& inner = p.axes.back();
    const std::int64_t stride = axes.back().stride;
    while (count > 0) {
      const std::int64_t column = begin % inner.outputs;
      const std::int64_t run = std::min(count, inner.outputs - column);
      std::int64_t row = begin / inner.outputs, at = 0, scale = axes.back().outputs;
      for (std::size_t d = axes.size() - 1; d-- > 0; row /= p.axes[d].outputs) {
        at += (row % p.axes[d].outputs * axes[d].stride + chosen[d]->first) * scale;
        scale *= axes[d].outputs;
      }
      T* to = map + at + column * stride + chosen.back()->first;
      for (std::int64_t i = 0; i < run; ++i) to[i * stride] = from[i];
      begin += run;
      count -= run;
      from += run;
    }
  }
};

Value spread_values(const Call& call, const Spread& s) {
  const ElementType type = call.output_type(0);
  Tensor y = Tensor::uninitialized(type, call.output_shape(0));
  const std::int64_t maps = s.groups * s.maps;
  std::vector<double> bias(static_cast<std::size_t>(maps)), keep;
  if (call.has(2)) bias = load<double>(call.input(2)).data;
  const Array<double> w = load<double>(call.input(1));
  const Elements x = elements_of(call.input(0).tensor(), keep);
  visit_storage(type, [&]<class T>(T*) {
    if constexpr (std::is_floating_point_v<T>) {
      T* const out = y.mutate<T>().data();
      // Outputs that no tap reaches are the bias.
      for (std::int64_t plane = 0; plane < s.batches * maps; ++plane)
        std::fill_n(out + plane * s.outputs, s.outputs,
                    static_cast<T>(round_to(type, bias[static_cast<std::size_t>(plane % maps)])));
      s.for_phases([&](const Patches& p, const std::vector<const Phase*>& chosen) {
        const std::vector<double> weights = s.weights(w.data.data(), p, chosen);
        convolve(p, x, {weights.data(), false},
                 [&](std::int64_t batch, std::int64_t map, std::int64_t begin, std::int64_t count,
                     double* sums) {
                   thread_local std::vector<T> stored;
                   stored.resize(static_cast<std::size_t>(count));
                   for (std::int64_t i = 0; i < count; ++i)
                     sums[i] += bias[static_cast<std::size_t>(map)];
                   from_doubles(type, sums, count, stored.data());
                   s.put(p, chosen, begin, count, static_cast<const T*>(stored.data()),
                         out + (batch * maps + map) * s.outputs);
                 });
      });
    }
  });
  return y;
}

template <class S>
Value spread_as(const Call& call, const Spread& s) {
  const RoundingScope scope(rounding_of(call.output_type(0)));
  const Array<S> x = load<S>(call.input(0)), w = load<S>(call.input(1));
  const std::int64_t maps = s.groups * s.maps;
  Array<S> bias, y(call.output_shape(0));
  if (call.has(2)) {
    bias = load<S>(call.input(2));
    for (std::int64_t i = 0; i < y.size(); ++i) y[i] = bias[i / s.outputs % maps];
  }
  s.for_phases([&](const Patches& p, const std::vector<const Phase*>& chosen) {
    const std::vector<S> weights = s.weights(w.data.data(), p, chosen);
    const std::vector<S> sums =
        convolve<S>(p, x.data.data(), weights.data(), call.has(2) ? bias.data.data() : nullptr);
    for (std::int64_t plane = 0; plane < s.batches * maps; ++plane)
      s.put(p, chosen, 0, p.outputs(), sums.data() + plane * p.outputs(),
            y.data.data() + plane * s.outputs);
  });
  return settle(call.output_type(0), y);
}

void evaluate_conv_transpose(Call& call) {
  const Spread s(call);
  call.outputs[0] = call.reading == Reading::value     ? spread_values(call, s)
                    : call.reading == Reading::bounded ? spread_as<Bounded>(call, s)
                                                       : spread_as<Interval>(call, s);
}

void dilations_ignored(Builder& b) {
  const std::vector<std::int64_t> ones(b.site().dims(0)->size() - 2, 1);
  b.output(0, b.again({attribute("dilations", ones)}).front());
}

Operator conv_transpose() {
  return {
      .name = "ConvTranspose",
      .versions = {1, 11, 22},
      .summary = "Each element spread over the window it would be read from, summed, plus a bias.",
      .attributes = conv_roles({{"output_padding", Role::pads}, {"output_shape", Role::sizes}}),
      .require = require_conv_transpose,
      .infer = infer_conv_transpose,
      .meaning = custom(Pattern::contraction, evaluate_conv_transpose),
      .variants = {{"pads-on-the-other-side", Variant::Kind::defect,
                    "Keras 2.3 on Theano and CNTK; the formula of version 1 in the standard",
                    pads_on_the_other_side},
                   {"dilations-ignored", Variant::Kind::defect, "Conv3DTranspose of tf.keras 2.4",
                    dilations_ignored},
                   {"kernels-turned", Variant::Kind::defect,
                    "Conv3DTranspose of Keras 2.3 on Theano, of a file that TensorFlow wrote",
                    kernels_turned}}};
}

}  // namespace

std::vector<Operator> transposed_conv_operators() { return {conv_transpose()}; }

}  // namespace assay

// Convolutions: sums of products over the windows of N x C x D1 x D2 …, groups of channels apart.
#include "ops/conv.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/isa.h"
#include "ops/alignment.h"
#include "ops/families.h"
#include "ops/pool.h"
#include "ops/window_checks.h"
#include "patterns/patches_bounded.h"
#include "patterns/row_kernels.h"
#include "tensor/convert.h"

namespace assay {
namespace {

// What a convolution keeps for the next time.
struct KeptWeights {
  Tensor weights;  // which have been packed: while they are held, no others are at their address
  Isa isa;
  PackedWeights packed;
};

// Null for weights that are others each time.
PackedWeights* kept_weights(const Call& call) {
  if (!call.kept) return nullptr;
  const Tensor& weights = call.input(1).tensor();
  if (!*call.kept) *call.kept = std::make_shared<KeptWeights>(weights, isa(), nullptr);
  KeptWeights& kept = *static_cast<KeptWeights*>(call.kept->get());
  if (kept.weights.raw() == weights.raw() && kept.isa == isa()) return &kept.packed;
  kept = {};
  return nullptr;
}

Value conv_values(const Call& call, const Patches& p) {
  const ElementType type = call.output_type(0);
  Tensor y = Tensor::uninitialized(type, call.output_shape(0));
  std::vector<double> keep_x, keep_w, bias;
  if (call.has(2)) bias = load<double>(call.input(2)).data;
  void* const out = y.mutable_raw();
  const RowKernels& kernels = row_kernels();
  const std::int64_t maps = p.groups * p.maps, outputs = p.outputs();
  const auto element = static_cast<std::int64_t>(storage_size(type));
  convolve(
      p, elements_of(call.input(0).tensor(), keep_x), elements_of(call.input(1).tensor(), keep_w),
      [&](std::int64_t batch, std::int64_t map, std::int64_t begin, std::int64_t count,
          double* sums) {
        const double b = bias.empty() ? 0 : bias[static_cast<std::size_t>(map)];
        const std::int64_t at = (batch * maps + map) * outputs + begin;
        if (type == ElementType::f32)
          return kernels.narrow(sums, b, count, static_cast<float*>(out) + at);
        for (std::int64_t i = 0; i < count; ++i) sums[i] += b;
        from_doubles(type, sums, count, static_cast<char*>(out) + at * element);
      },
      kept_weights(call));
  return y;
}

template <class S>
Value conv_as(const Call& call, const Patches& p) {
  const RoundingScope scope(rounding_of(call.output_type(0)));
  const Array<S> x = load<S>(call.input(0)), w = load<S>(call.input(1));
  Array<S> bias;
  if (call.has(2)) bias = load<S>(call.input(2));
  Array<S> y;
  y.shape = call.output_shape(0);
  y.data = convolve<S>(p, x.data.data(), w.data.data(), call.has(2) ? bias.data.data() : nullptr);
  return settle(call.output_type(0), y);
}

Value conv_bounded(const Call& call, const Patches& p) {
  const Value* const bias = call.has(2) ? &call.input(2) : nullptr;
  std::optional<Value> exact =
      convolve_exact(p, call.input(0), call.input(1), bias, call.output_type(0),
                     call.output_shape(0), kept_weights(call));
  return exact ? *std::move(exact) : conv_as<Bounded>(call, p);
}

void evaluate_conv(Call& call) {
  const Patches p = conv_patches(call.site, call.input(0).shape(), call.input(1).shape());
  call.outputs[0] = call.reading == Reading::value     ? conv_values(call, p)
                    : call.reading == Reading::bounded ? conv_bounded(call, p)
                                                       : conv_as<Interval>(call, p);
}

Operator conv() {
  return {.name = "Conv",
          .versions = {1, 11, 22},
          .summary = "A sum of products over each window, for each map of its group, plus a bias.",
          .attributes = conv_roles(),
          .require = [](Check& c) { require_conv(c, {}); },
          .infer = [](Infer& n) { infer_conv(n, {}, n.element(0)); },
          .align = align_convolution,
          .meaning = custom(Pattern::contraction, evaluate_conv),
          .variants = {{"pads-on-the-other-side", Variant::Kind::defect,
                        "Keras 2.3 on Theano and CNTK with padding='same'", pads_on_the_other_side},
                       {"kernels-turned", Variant::Kind::difference,
                        "Theano's conv2d, and weight files read for it without conversion",
                        kernels_turned}}};
}

// The extent of an axis, if it is known.
Dim extent_at(const Dims& dims, std::size_t d) { return d < dims.size() ? dims[d] : Dim(); }

Dim divided(const Dim& a, std::int64_t b) { return a.known() ? Dim(a.value / b) : Dim(); }

}  // namespace

void kernels_turned(Builder& b) {
  const Dims& w = *b.site().dims(1);
  const auto spatial = static_cast<std::int64_t>(w.size()) - 2;
  std::vector<std::int64_t> axes, last, end, step;
  for (std::int64_t d = 0; d < spatial; ++d) {
    axes.push_back(d + 2);
    last.push_back(-1);
    end.push_back(std::numeric_limits<std::int64_t>::min());
    step.push_back(-1);
  }
  std::vector<std::string> inputs = {
      b.input(0), b("Slice", {b.input(1), b.integers(last), b.integers(end), b.integers(axes),
                              b.integers(step)})};
  if (b.has(2)) inputs.push_back(b.input(2));
  b.output(0, b.again_on(inputs).front());
}

std::vector<AttributeRole> conv_roles(std::vector<AttributeRole> more) {
  std::vector<AttributeRole> roles = {{"auto_pad", Role::choice}, {"dilations", Role::sizes},
                                      {"group", Role::count},     {"kernel_shape", Role::sizes},
                                      {"pads", Role::pads},       {"strides", Role::sizes}};
  roles.insert(roles.end(), more.begin(), more.end());
  return roles;
}

WindowAttributes conv_attributes(const Site& site, const Dims& x, const Dims& w) {
  WindowAttributes a = window_attributes(site, x.size() - 2);
  if (!a.kernel.empty() || w.size() != x.size()) return a;
  for (std::size_t d = 2; d < w.size(); ++d) {
    if (!w[d].known()) {
      a.kernel.clear();
      return a;
    }
    a.kernel.push_back(w[d].value);
  }
  return a;
}

bool require_groups(Check& c, const ConvInputs& inputs) {
  const Dims &x = *c.dims(inputs.x_name), &w = *c.dims(inputs.w_name);
  const std::int64_t group = c.site.integer("group", 1);
  bool good = c.divisible(x[1], group, "the number of channels");
  good = c.divisible(w[0], group, "the number of maps") && good;
  if (!good) return false;
  good = c.weight_extent(inputs.w_name, 1, divided(x[1], group), "the channels of one group");
  if (inputs.b_name.empty() || !c.index_of(inputs.b_name)) return good;
  if (!c.rank(inputs.b_name, exactly(1))) return false;
  return c.weight_extent(inputs.b_name, 0, w[0], "the number of maps") && good;
}

bool require_conv(Check& c, const ConvInputs& inputs) {
  const bool attributes = require_window_attributes(c, inputs.x_name);
  const bool groups = c.positive({"group"});
  if (!c.rank(inputs.x_name, at_least(3)) || !c.same_rank(inputs.x_name, inputs.w_name))
    return false;
  bool good = groups && require_groups(c, inputs) && attributes;
  if (!attributes) return false;
  const Dims &x = *c.dims(inputs.x_name), &w = *c.dims(inputs.w_name);
  const std::vector<std::int64_t>& kernel = c.site.integers("kernel_shape");
  for (std::size_t d = 0; d < kernel.size(); ++d)
    good = c.weight_extent(inputs.w_name, static_cast<std::int64_t>(d) + 2, kernel[d],
                           "kernel_shape") &&
           good;
  const WindowAttributes a = conv_attributes(c.site, x, w);
  if (a.kernel.empty()) {
    c.undecided("window-fits", "the extents of the kernel");
    return false;
  }
  if (!require_windows_fit(c, inputs.x_name, a)) return false;
  Dims y = window_outputs(a, x);
  y.insert(y.begin(), {x[0], w[0]});
  return require_size(c, y) && good;
}

void infer_conv(Infer& n, const ConvInputs& inputs, ElementType type) {
  const Dims *x = n.dims(inputs.x), *w = n.dims(inputs.w);
  if (!x || x->size() < 3) return n.output(0, type);
  const WindowAttributes a = conv_attributes(n.site, *x, w ? *w : Dims{});
  Dims y(x->size() - 2);
  if (has_lengths(a, x->size() - 2)) y = window_outputs(a, *x);
  y.insert(y.begin(), {(*x)[0], w ? extent_at(*w, 0) : Dim()});
  n.output(0, type, y);
}

PatchAxis patch_axis(const WindowGeometry& g, std::size_t d) {
  PatchAxis axis{g.extents[d], g.outputs[d], g.strides[d], {}};
  for (std::int64_t t = 0; t < g.kernel[d]; ++t) {
    const std::int64_t offset = t * g.dilations[d] - g.pads_begin[d];
    const bool never = offset >= axis.extent || offset + (axis.outputs - 1) * axis.step < 0;
    // What no window reads is put where no memory is spent on it.
    axis.offsets.push_back(never ? axis.extent : offset);
  }
  return axis;
}

Patches conv_patches(const Site& site, const Shape& x, const Shape& w) {
  const Shape spatial(x.begin() + 2, x.end());
  const WindowGeometry g = window_geometry(conv_attributes(site, to_dims(x), to_dims(w)), spatial);
  Patches p;
  p.batches = x[0];
  p.groups = site.integer("group", 1);
  p.channels = w[1];
  p.maps = w[0] / p.groups;
  for (std::size_t d = 0; d < spatial.size(); ++d) p.axes.push_back(patch_axis(g, d));
  return p;
}

std::vector<Operator> conv_operators() {
  std::vector<Operator> all = {conv()};
  for (const std::vector<Operator>& more : {quantized_conv_operators(), transposed_conv_operators(),
                                            deformed_conv_operators(), column_operators()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace assay

// Convolutions of integers around zero points.
#include <algorithm>

#include "ops/conv.h"
#include "ops/requantize.h"
#include "tensor/convert.h"

namespace assay {
namespace {

// One number for the whole tensor, or one a map.
template <class S>
S of_map(const Array<S>& values, std::int64_t map) {
  return values.size() == 1 ? values[0] : values[map];
}

bool all_exact(const Call& call) {
  return std::all_of(call.inputs.begin(), call.inputs.end(),
                     [](const Value& v) { return !v.is_tensor() || v.exact(); });
}

// x minus its zero point, which is one number, or one for each of `parts` equal parts of x.
template <class S>
std::vector<S> shifted(const Call& call, std::size_t x, std::size_t zero_point,
                       std::int64_t parts) {
  Array<S> values = load<S>(call.input(x));
  if (!call.has(zero_point)) return values.data;
  const Array<S> zeros = load<S>(call.input(zero_point));
  const std::int64_t part = values.size() / std::max<std::int64_t>(parts, 1);
  for (std::int64_t i = 0; i < values.size(); ++i)
    values[i] = values[i] - of_map(zeros, zeros.size() == 1 ? 0 : i / part);
  return values.data;
}

// The sums of products of (x - x_zero_point) and (w - w_zero_point), whose padding is 0.
template <class S>
std::vector<S> sums_of(const Call& call, const Patches& p, std::size_t x, std::size_t x_zero,
                       std::size_t w, std::size_t w_zero) {
  const std::int64_t maps = p.groups * p.maps, outputs = p.outputs();
  const RoundingScope scope(Rounding::exact());
  if (!all_exact(call)) {
    if constexpr (!std::is_same_v<S, double>)
      return convolve<S>(p, shifted<S>(call, x, x_zero, 1).data(),
                         shifted<S>(call, w, w_zero, maps).data(), nullptr);
  }
  const std::vector<double> xs = shifted<double>(call, x, x_zero, 1);
  const std::vector<double> ws = shifted<double>(call, w, w_zero, maps);
  std::vector<S> sums(static_cast<std::size_t>(p.batches * maps * outputs));
  convolve(p, {xs.data(), false}, {ws.data(), false},
           [&](std::int64_t batch, std::int64_t map, std::int64_t begin, std::int64_t count,
               double* values) {
             S* to = sums.data() + (batch * maps + map) * outputs + begin;
             for (std::int64_t i = 0; i < count; ++i) to[i] = from_exact<S>(values[i]);
           });
  return sums;
}

struct ConvInteger {
  template <class S>
  void operator()(Frame<S>& frame) const {
    const Patches p = conv_patches(frame.site(), frame.shape(0), frame.shape(1));
    Array<S> y;
    y.shape = frame.output_shape(0);
    y.data = sums_of<S>(frame.call(), p, 0, 2, 1, 3);
    frame.output(0, y);
  }
};

struct QLinearConv {
  template <class S>
  void operator()(Frame<S>& frame) const {
    const Patches p = conv_patches(frame.site(), frame.shape(0), frame.shape(3));
    Array<S> y;
    y.shape = frame.output_shape(0);
    y.data = sums_of<S>(frame.call(), p, 0, 2, 3, 5);
    const Array<S> x_scale = frame.input(1), w_scale = frame.input(4), y_scale = frame.input(6);
    const Array<S> zero_point = frame.input(7);
    Array<S> bias;
    if (frame.has(8)) bias = frame.input(8);
    const std::int64_t maps = p.groups * p.maps, outputs = p.outputs();
    const ElementType type = frame.call().output_type(0);
    for (std::int64_t i = 0; i < y.size(); ++i) {
      const std::int64_t map = i / outputs % maps;
      if (frame.has(8)) y[i] = y[i] + bias[map];
      y[i] = requantized(y[i], x_scale[0], of_map(w_scale, map), y_scale[0], zero_point[0],
                         ElementType::f32, type);
    }
    frame.output(0, y);
  }
};

// A number for the tensor or one a map.
void require_of_map(Check& c, std::string_view input, const Dim& maps) {
  if (!c.rank(input, at_most(1)) || !c.index_of(input)) return;
  const Dims& own = *c.dims(input);
  if (!own.empty() && !(own[0].known() && own[0].value == 1))
    c.weight_extent(input, 0, maps, "the number of maps");
}

void require_number(Check& c, std::string_view input) {
  if (c.rank(input, at_most(1))) c.element_count_is(input, 1);
}

void require_conv_integer(Check& c) {
  require_number(c, "x_zero_point");
  if (require_conv(c, {0, 1, "x", "w", ""})) require_of_map(c, "w_zero_point", (*c.dims("w"))[0]);
}

void require_qlinear_conv(Check& c) {
  for (std::string_view input : {"x_scale", "x_zero_point", "y_scale", "y_zero_point"})
    require_number(c, input);
  if (!require_conv(c, {0, 3, "x", "w", "B"})) return;
  require_of_map(c, "w_scale", (*c.dims("w"))[0]);
  require_of_map(c, "w_zero_point", (*c.dims("w"))[0]);
}

void zero_point_before_rounding(Builder& b) {
  const Site& site = b.site();
  const auto real = [&](const std::string& x) {
    return b("Cast", {x}, {attribute("to", static_cast<std::int64_t>(ElementType::f32))});
  };
  // One number a map stands along axis 1.
  std::vector<std::int64_t> along(site.dims(0)->size() - 1, 1);
  along[0] = -1;
  const auto by_map = [&](std::size_t i) { return b("Reshape", {b.input(i), b.integers(along)}); };
  std::string sums =
      b("ConvInteger", {b.input(0), b.input(3), b.input(2), b.input(5)}, site.node().attributes);
  if (b.has(8)) sums = b("Add", {sums, by_map(8)});
  const std::string scale = b("Mul", {real(b.input(1)), by_map(4)});
  b.output(0, rounded_after_zero_point(b, sums, scale, b.input(6), b.input(7), site.element(7)));
}

Operator conv_integer() {
  return {.name = "ConvInteger",
          .versions = {10},
          .summary = "A convolution of integers around zero points, in 32 bits.",
          .attributes = conv_roles(),
          .require = require_conv_integer,
          .infer = [](Infer& n) { infer_conv(n, {}, ElementType::i32); },
          .meaning = compute<ConvInteger>(Pattern::contraction)};
}

Operator qlinear_conv() {
  return {.name = "QLinearConv",
          .versions = {10},
          .summary = "A convolution of quantized numbers, quantized again.",
          .attributes = conv_roles(),
          .require = require_qlinear_conv,
          .infer =
              [](Infer& n) {
                infer_conv(n, {0, 3, "x", "w", "B"}, n.element(7));
              },
          .meaning = compute<QLinearConv>(Pattern::contraction),
          .variants = {{"zero-point-before-rounding", Variant::Kind::difference, "onnx.reference",
                        zero_point_before_rounding}}};
}

}  // namespace

std::vector<Operator> quantized_conv_operators() { return {conv_integer(), qlinear_conv()}; }

}  // namespace assay

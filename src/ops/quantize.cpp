// Quantisation: integers or narrow floats that stand for real numbers by a scale and a zero point.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "ops/families.h"
#include "patterns/compute.h"

namespace assay {
namespace {

constexpr std::size_t kScale = 1, kZeroPoint = 2;

// Which scale an element has: one for all, one a slice along `axis`, or one a block of a slice.
class Granularity {
 public:
  Granularity(const Site& site, const Shape& x, const Shape& scale) {
    if (element_count(scale) == 1 && scale.size() != x.size()) return;
    if (scale.empty()) return;
    const auto rank = static_cast<std::int64_t>(x.size());
    const auto axis =
        static_cast<std::size_t>(normalize_axis(site.integer("axis", 1), rank).value_or(0));
    extents_ = x;
    strides_.assign(x.size(), 0);
    divisors_.assign(x.size(), 1);
    if (scale.size() == 1) {
      strides_[axis] = 1;
    } else {
      strides_ = strides_of(scale);
      divisors_[axis] = site.integer("block_size") > 0
                            ? site.integer("block_size")
                            : (x[axis] + scale[axis] - 1) / std::max<std::int64_t>(1, scale[axis]);
    }
  }

  std::int64_t operator()(std::int64_t at) const {
    std::int64_t index = 0;
    for (std::size_t d = extents_.size(); d-- > 0; at /= extents_[d])
      index += at % extents_[d] / divisors_[d] * strides_[d];
    return index;
  }

 private:
  Shape extents_;
  std::vector<std::int64_t> strides_, divisors_;
};

// The format in which x is divided by its scale.
ElementType division_type(const Site& site) {
  const std::int64_t given = site.integer("precision");
  return given > 0 ? static_cast<ElementType>(given) : site.element(kScale);
}

ElementType quantized_type(const Site& site) {
  const std::int64_t given = site.integer("output_dtype");
  if (given > 0) return static_cast<ElementType>(given);
  return site.has_input(kZeroPoint) ? site.element(kZeroPoint) : ElementType::u8;
}

ElementType real_type(const Site& site) {
  const std::int64_t given = site.integer("output_dtype");
  return given > 0 ? static_cast<ElementType>(given) : site.element(kScale);
}

// The quotient as its format holds it; bounds and ranges hold that already.
template <class S>
S held(const S& quotient, ElementType type) {
  if constexpr (std::is_same_v<S, double>)
    return round_to(type, quotient);
  else
    return quotient;
}

// saturate(round(x / scale) + zero point); a float is not rounded to a whole number.
struct Quantize {
  template <class S>
  void operator()(Frame<S>& f) const {
    const Array<S> x = f.input(0), scale = f.input(kScale);
    const ElementType to = quantized_type(f.site()), precision = division_type(f.site());
    const Array<S> zero_point = f.has(kZeroPoint) ? f.input(kZeroPoint) : Array<S>(scale.shape);
    const Granularity where(f.site(), x.shape, scale.shape);
    const bool real = is_real(to);
    const bool clamps = !real || f.site().integer("saturate", 1) != 0 || !format_of(to).has_nan;
    const S low =
        constant<S>(real ? -format_of(to).largest : static_cast<double>(smallest_integer(to)));
    const S high =
        constant<S>(real ? format_of(to).largest : static_cast<double>(largest_integer(to)));
    const RoundingScope scope(rounding_of(precision));
    Array<S> y(x.shape);
    for (std::int64_t i = 0; i < x.size(); ++i) {
      const std::int64_t k = where(i);
      const S quotient = held(divide(x[i], scale[k]), precision);
      const S shifted = (real ? quotient : round_even(quotient)) + zero_point[k];
      y[i] = clamps ? clamp(shifted, low, high) : shifted;
    }
    f.output(0, y);
  }
};

struct Dequantize {
  template <class S>
  void operator()(Frame<S>& f) const {
    const Array<S> x = f.input(0), scale = f.input(kScale);
    const Array<S> zero_point = f.has(kZeroPoint) ? f.input(kZeroPoint) : Array<S>(scale.shape);
    const Granularity where(f.site(), x.shape, scale.shape);
    Array<S> y(x.shape);
    for (std::int64_t i = 0; i < x.size(); ++i) {
      const std::int64_t k = where(i);
      y[i] = (x[i] - zero_point[k]) * scale[k];
    }
    f.output(0, y);
  }
};

// A scale for the whole tensor, of rank 0 or 1.
bool is_single(const Dims& dims) {
  return dims.empty() || (dims.size() == 1 && dims[0].known() && dims[0].value == 1);
}

// Scales of the shape that one of the three granularities has.
void require_granularity(Check& c, std::string_view x, std::string_view scale,
                         std::string_view zero_point) {
  c.not_negative({"block_size"});
  const Dims *data = c.dims(x), *scales = c.dims(scale), *points = c.dims(zero_point);
  if (!data || !scales) return c.undecided("granularity", "the ranks of the inputs");
  if (!points || !is_single(*points) || !is_single(*scales)) c.same_shape(scale, zero_point);
  if (is_single(*scales)) return;
  const auto rank = static_cast<std::int64_t>(data->size());
  if (rank == 0 || c.site.version() < 13)
    return void(c.shape(false, "granularity", "a single scale", to_text(*scales)));
  if (c.site.version() < 21 && !c.rank(scale, exactly(1))) return;
  const std::int64_t given = c.site.integer("axis", 1);
  const auto axis = normalize_axis(given, rank);
  if (rank > 1 && !c.axis("axis", given, between(-rank, rank - 1))) return;
  const auto at = static_cast<std::size_t>(axis.value_or(0));
  if (scales->size() == 1) return void(c.extent(scale, 0, (*data)[at], "the extent along axis"));
  if (!c.rank(scale, exactly(rank))) return;
  const std::int64_t block = c.site.integer("block_size");
  for (std::size_t d = 0; d < data->size(); ++d) {
    if (d != at) {
      c.extent(scale, static_cast<std::int64_t>(d), (*data)[d], "the extent of the input");
    } else if (block > 0 && (*data)[d].known()) {
      c.extent(scale, static_cast<std::int64_t>(d),
               Dim((*data)[d].value / block + ((*data)[d].value % block != 0)),
               "the number of blocks");
    } else if ((*scales)[d].known()) {
      c.shape((*scales)[d].value > 0, "granularity", "a block at least", to_text(*scales));
    }
  }
}

// The element type that an attribute names, if it names one, is among the expected ones.
void require_type(Check& c, std::string_view attribute, bool real) {
  const std::int64_t given = c.site.integer(attribute);
  if (given == 0) return;
  const bool known = given > 0 && given < kElementTypeCount;
  const auto type = known ? static_cast<ElementType>(given) : ElementType::undefined;
  c.argument(real ? is_real(type) : is_real(type) || (is_integer(type) && bit_width(type) <= 16),
             "target-type",
             fmt::format("{} to be a {} type", attribute, real ? "real" : "quantised"),
             fmt::format("{}", given));
}

void require_quantize(Check& c) {
  require_granularity(c, "x", "y_scale", "y_zero_point");
  require_type(c, "output_dtype", false);
  require_type(c, "precision", true);
  if (c.site.integer("output_dtype") > 0 && c.site.has_input(kZeroPoint) && c.violations.empty())
    c.argument(quantized_type(c.site) == c.site.element(kZeroPoint), "target-type",
               "output_dtype to be y_zero_point's type",
               std::string(short_name(quantized_type(c.site))));
}

void require_dequantize(Check& c) {
  require_granularity(c, "x", "x_scale", "x_zero_point");
  require_type(c, "output_dtype", true);
}

void infer_quantize(Infer& n) {
  ValueType type = n.site.type(0);
  type.element = quantized_type(n.site);
  n.output(0, std::move(type));
}

void infer_dequantize(Infer& n) {
  ValueType type = n.site.type(0);
  type.element = real_type(n.site);
  n.output(0, std::move(type));
}

// Halves rounded away from zero, as C's round does.
void halves_away_from_zero(Builder& b) {
  const std::string ratio = b("Div", {b.input(0), b.input(1)});
  const std::string half = b.like(0, 0.5);
  const std::string away =
      b("Mul", {b("Sign", {ratio}), b("Floor", {b("Add", {b("Abs", {ratio}), half})})});
  b.output(0, b.again_on({b("Mul", {away, b.input(1)}), b.input(1), b.input(2)}).front());
}

// The division in the scale's own format, whatever precision asks for.
void precision_is_ignored(Builder& b) {
  const bool given = b.site().integer("precision") != 0;
  b.output(0, given ? b.again({attribute("precision", 0)}).front() : b.again().front());
}

const std::vector<AttributeRole> kRoles = {
    {"axis", Role::axis}, {"block_size", Role::count}, {"output_dtype", Role::type}};

Operator quantize_linear() {
  std::vector<AttributeRole> roles = kRoles;
  roles.push_back({"precision", Role::type});
  roles.push_back({"saturate", Role::flag});
  return {
      .name = "QuantizeLinear",
      .versions = {10, 13, 19, 21, 23, 24, 25, 28},
      .summary = "round(x / scale) + zero point, kept inside the quantised type.",
      .attributes = roles,
      .require = require_quantize,
      .infer = infer_quantize,
      .meaning = compute<Quantize>(Pattern::elementwise),
      .variants = {{"halves-away-from-zero", Variant::Kind::difference,
                    "runtimes that round with C's round instead of to even", halves_away_from_zero},
                   {"precision-is-ignored", Variant::Kind::difference, "ONNX Runtime 1.31",
                    precision_is_ignored}}};
}

Operator dequantize_linear() {
  return {.name = "DequantizeLinear",
          .versions = {10, 13, 19, 21, 23, 24, 25, 28},
          .summary = "(x - zero point) * scale.",
          .attributes = kRoles,
          .require = require_dequantize,
          .infer = infer_dequantize,
          .meaning = compute<Dequantize>(Pattern::elementwise)};
}

// Its steps are rounded one by one, and a zero point can depend on that.
void dynamic_quantize(Builder& b) {
  const std::string zero = b.like(0, 0), top = b.like(0, 255);
  const std::string low =
      b("Min", {b("ReduceMin", {b.input(0)}, {attribute("keepdims", 0)}), zero});
  const std::string high =
      b("Max", {b("ReduceMax", {b.input(0)}, {attribute("keepdims", 0)}), zero});
  const std::string scale = b("Div", {b("Sub", {high, low}), top});
  const std::string shift = b("Sub", {zero, b("Div", {low, scale})});
  const std::string point = b("Cast", {b("Round", {b("Clip", {shift, zero, top})})},
                              {attribute("to", static_cast<std::int64_t>(ElementType::u8))});
  b.output(0, b("QuantizeLinear", {b.input(0), scale, point}));
  b.output(1, scale);
  b.output(2, point);
}

Operator dynamic_quantize_linear() {
  return {.name = "DynamicQuantizeLinear",
          .versions = {11},
          .summary = "Quantises to 8 bits with the scale and zero point that the data ask for.",
          .attributes = {},
          .infer =
              [](Infer& n) {
                ValueType type = n.site.type(0);
                type.element = ElementType::u8;
                n.output(0, std::move(type));
                n.output(1, ElementType::f32, {});
                n.output(2, ElementType::u8, {});
              },
          .meaning = function(dynamic_quantize)};
}

}  // namespace

std::vector<Operator> quantize_operators() {
  return {dequantize_linear(), dynamic_quantize_linear(), quantize_linear()};
}

}  // namespace assay

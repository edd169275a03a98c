// Activations made of straight pieces.
#include <cmath>

#include <fmt/format.h>

#include "ops/activation_parts.h"
#include "tensor/element_type.h"

namespace assay {
namespace {

struct Relu {
  template <class S>
  S operator()(S x) const {
    return max(x, zero<S>());
  }
};

template <class S>
S bent_at_zero(const S& x, const S& slope) {
  return select(less(x, zero<S>()), slope * piece_below(x, 0), piece_above(x, 0));
}

struct LeakyRelu {
  double alpha;
  bool gentle;  // then the larger of x and alpha * x is the answer, and needs no branch
  explicit LeakyRelu(const Call& call)
      : alpha(call.site.real("alpha")), gentle(alpha > 0 && alpha <= 1) {}
  template <class S>
  S operator()(S x) const {
    if constexpr (std::is_same_v<S, double>)
      if (gentle) return max(x, alpha * x);
    return bent_at_zero(x, constant<S>(alpha));
  }
};

struct PRelu {
  template <class S>
  S operator()(S x, S slope) const {
    return bent_at_zero(x, slope);
  }
};

struct ThresholdedRelu {
  double alpha;
  explicit ThresholdedRelu(const Call& call) : alpha(call.site.real("alpha")) {}
  template <class S>
  S operator()(S x) const {
    return select(greater(x, constant<S>(alpha)), piece_above(x, alpha), zero<S>());
  }
};

// Where the line has the slope 1/6 many evaluate it as the part of x + 3 in [0, 6], divided by 6.
struct HardSigmoid {
  double alpha, beta;
  explicit HardSigmoid(const Call& call)
      : alpha(call.site.real("alpha")), beta(call.site.real("beta")) {}
  template <class S>
  S operator()(S x) const {
    const S line = clamp(constant<S>(alpha) * x + constant<S>(beta), zero<S>(), constant<S>(1));
    if (static_cast<float>(alpha) != 1.0F / 6 || beta != 0.5) return line;
    return hull(line, clamp(x + constant<S>(3), zero<S>(), constant<S>(6)) / constant<S>(6));
  }
};

// x times max(0, min(1, x/6 + 1/2)); many evaluate it as x times the part of x + 3 in [0, 6],
// divided by 6.
struct HardSwish {
  template <class S>
  S operator()(S x) const {
    const S slope = clamp(constant<S>(1.0 / 6) * x + constant<S>(0.5), zero<S>(), constant<S>(1));
    const S sixths = x * clamp(x + constant<S>(3), zero<S>(), constant<S>(6)) / constant<S>(6);
    return not_below(hull(x * slope, sixths), -0.375);
  }
};

// Up to version 6 the bounds are attributes, then inputs. One that is not given does not bind. A
// bound that the format lacks (the default of version 6, in f16) is an infinity there.
struct Clip {
  bool has_low, has_high;
  double low, high;
  explicit Clip(const Call& call) {
    const Site& site = call.site;
    const ElementType type = call.output_type(0);
    const double largest =
        is_real(type) ? format_of(type).largest : std::numeric_limits<double>::infinity();
    low = site.real("min");
    high = site.real("max");
    const bool by_attribute = site.version() < 11;
    has_low = by_attribute ? site.has("min") && !(low < -largest) : call.has(1);
    has_high = by_attribute ? site.has("max") && !(high > largest) : call.has(2);
  }
  template <class S>
  S operator()(S x) const {
    if (has_low) x = max(x, constant<S>(low));
    if (has_high) x = min(x, constant<S>(high));
    return x;
  }
  template <class S>
  S operator()(S x, S bound) const {
    return has_low ? max(x, bound) : min(x, bound);
  }
  template <class S>
  S operator()(S x, S least, S most) const {
    return clamp(x, least, most);
  }
};

// In the numbers of the attributes, not those of the input: integers are cut toward zero at the
// end.
struct Shrink {
  bool whole;
  double lambd, bias;
  explicit Shrink(const Call& call)
      : whole(!is_real(call.output_type(0))),
        lambd(call.site.real("lambd")),
        bias(call.site.real("bias")) {}

  template <class S>
  S operator()(S x) const {
    if constexpr (Integral<S>) {
      const auto wide = static_cast<long double>(x);  // has the bits of all 64-bit integers
      return select(wide < -lambd, shifted(x, bias),
                    select(wide > lambd, shifted(x, -bias), zero<S>()));
    } else {
      const S limit = constant<S>(lambd), shift = constant<S>(bias);
      const S y = select(less(x, -limit), piece_below(x, -lambd) + shift,
                         select(greater(x, limit), piece_above(x, lambd) - shift, zero<S>()));
      return whole ? truncate(y) : y;
    }
  }

 private:
  // x + shift, cut toward zero and wrapped.
  template <class S>
  static S shifted(S x, double shift) {
    if (!std::isfinite(shift)) return 0;
    const double steps = std::floor(shift);
    const double rest = std::fmod(std::fabs(steps), 0x1p64);
    const auto size = static_cast<std::uint64_t>(rest);
    const S y = x + static_cast<S>(steps < 0 ? 0 - size : size);
    const bool cut_upward = steps != shift && static_cast<long double>(x) + steps < 0;
    return cut_upward ? y + 1 : y;
  }
};

Operator piecewise(std::string_view name, std::vector<int> versions, std::string_view summary,
                   std::vector<AttributeRole> attributes, Meaning meaning) {
  if (versions.front() == 1) attributes.push_back({"consumed_inputs", Role::number});
  return {.name = name,
          .versions = std::move(versions),
          .summary = summary,
          .attributes = std::move(attributes),
          .infer = same_as_first,
          .meaning = std::move(meaning)};
}

void nan_is_zero(Builder& b) {
  const std::string x = b.input(0), y = b.again().front();
  b.output(0, is_real(b.site().element(0)) ? b("Where", {b("IsNaN", {x}), b.like(0, 0), y}) : y);
}

Operator relu() {
  Operator entry =
      piecewise("Relu", {1, 6, 13, 14}, "max(0, x).", {}, elementwise<Relu, RealsAndIntegers>());
  entry.variants = {{"nan-is-zero", Variant::Kind::defect,
                     "TensorFlow 2.18 compiled by XLA (relu6), and any max(0, x) that drops NaN",
                     nan_is_zero}};
  return entry;
}

Truth equal_extents(const Dim& a, const Dim& b) {
  return {!a.differs_from(b), !a.same_as(b), false};
}

// Below version 7 a slope of one element is shared and one of C elements belongs to the channels,
// axis 1; then it broadcasts to X.
void require_slope(Check& c) {
  if (c.site.version() >= 7) {
    c.broadcasts_to("slope", "X");
    return;
  }
  const Dims *x = c.dims("X"), *slope = c.dims("slope");
  if (!x || !slope) return c.undecided("slope-shape", "the ranks of X and slope");
  Truth shared = Truth::known(true), same = Truth::known(slope->size() == x->size());
  for (std::size_t d = 0; d < slope->size(); ++d) {
    shared = both(shared, equal_extents((*slope)[d], 1));
    if (same.may_be_true) same = both(same, equal_extents((*slope)[d], (*x)[d]));
  }
  Truth fits = either(shared, same);
  if (slope->size() == 1 && x->size() >= 2)
    fits = either(fits, equal_extents(slope->front(), (*x)[1]));
  if (fits.may_be_true && fits.may_be_false) return c.undecided("slope-shape", "the extents");
  c.shape(fits.may_be_true, "slope-shape", "one slope, or one for each channel of X",
          to_text(*slope));
}

Meaning with_channel_slopes(const Meaning& meaning) {
  return {meaning.pattern,
          [inner = meaning.evaluate](Call& call) {
            const Shape &x = call.input(0).shape(), &slope = call.input(1).shape();
            if (call.site.version() >= 7 || slope.size() != 1 || x.size() < 2) return inner(call);
            Shape aligned(x.size() - 1, 1);
            aligned[0] = slope[0];
            const Value inputs[] = {call.input(0), call.input(1).reshaped(aligned)};
            const std::span<const Value> given = call.inputs;
            call.inputs = inputs;
            inner(call);
            call.inputs = given;
          },
          meaning.answers_interval};
}

// A slope of one axis as the slopes of the channels, whatever the version says.
void per_channel(Builder& b) {
  const Dims &x = *b.site().dims(0), &slope = *b.site().dims(1);
  std::string slopes = b.input(1);
  if (slope.size() == 1 && x.size() > 2 && slope[0].same_as(x[1])) {
    std::vector<std::int64_t> axes;
    for (std::size_t d = 1; d + 1 < x.size(); ++d) axes.push_back(static_cast<std::int64_t>(d));
    slopes = b("Unsqueeze", {slopes, b.integers(axes)});
  }
  b.output(0, b.again_on({b.input(0), slopes}).front());
}

Operator prelu() {
  Operator entry = piecewise("PRelu", {1, 6, 7, 9, 16}, "x from zero up, slope * x below.", {},
                             with_channel_slopes(elementwise<PRelu, RealsAndIntegers>()));
  entry.require = require_slope;
  entry.variants = {{"slope-per-channel", Variant::Kind::difference,
                     "PyTorch and Caffe, whose slopes belong to axis 1", per_channel}};
  return entry;
}

void require_bounds(Check& c) {
  if (c.site.version() < 11) return;
  c.rank("min", exactly(0));
  c.rank("max", exactly(0));
}

// The bounds that are not given are the largest finite numbers, so infinities become finite.
void infinities_are_clipped(Builder& b) {
  const ElementType type = b.site().element(0);
  if (!is_real(type)) return b.output(0, b.again().front());
  const double largest = format_of(type).largest;
  const bool by_attribute = b.site().version() < 11;
  const auto bound = [&](std::size_t i, std::string_view name, double limit) {
    if (by_attribute && b.site().has(name)) return b.like(0, b.site().real(name));
    return !by_attribute && b.has(i) ? b.input(i) : b.like(0, limit);
  };
  b.output(0, b("Clip", {b.input(0), bound(1, "min", -largest), bound(2, "max", largest)}));
}

Operator clip() {
  Operator entry = piecewise(
      "Clip", {1, 6, 11, 12, 13}, "x, at least min and at most max; max where the two contradict.",
      {{"max", Role::bounds}, {"min", Role::bounds}}, elementwise<Clip, RealsAndIntegers>());
  entry.require = require_bounds;
  entry.variants = {{"infinities-are-clipped", Variant::Kind::difference,
                     "ONNX Runtime, where a bound that is not given is the largest finite number",
                     infinities_are_clipped}};
  return entry;
}

void one_sixth(Builder& b) {
  b.output(0, b.again({attribute("alpha", 1.0 / 6), attribute("beta", 0.5)}).front());
}

Operator hard_sigmoid() {
  Operator entry =
      piecewise("HardSigmoid", {1, 6, 22}, "max(0, min(1, alpha * x + beta)).",
                {{"alpha", Role::factor}, {"beta", Role::factor}}, elementwise<HardSigmoid>());
  entry.variants = {{"slope-of-one-sixth", Variant::Kind::difference,
                     "PyTorch and Keras 3, which know no other slope", one_sixth}};
  return entry;
}

void times_mask(Builder& b) {
  const std::string x = b.input(0);
  const std::string above = b("Greater", {x, b.like(0, b.site().real("alpha"))});
  b.output(0, b("Mul", {x, b("CastLike", {above, x})}));
}

Operator thresholded_relu() {
  Operator entry = piecewise("ThresholdedRelu", {10, 22}, "x above alpha, 0 elsewhere.",
                             {{"alpha", Role::factor}}, elementwise<ThresholdedRelu>());
  entry.variants = {{"times-mask", Variant::Kind::difference,
                     "Keras 2, which multiplies by the comparison: NaN and -infinity give NaN",
                     times_mask}};
  return entry;
}

}  // namespace

std::vector<Operator> piecewise_operators() {
  return {clip(),
          hard_sigmoid(),
          piecewise("HardSwish", {14, 22}, "x * max(0, min(1, x / 6 + 1 / 2)).", {},
                    elementwise<HardSwish>()),
          piecewise("LeakyRelu", {1, 6, 16}, "x above zero, alpha * x below.",
                    {{"alpha", Role::factor}}, elementwise<LeakyRelu>()),
          prelu(),
          relu(),
          piecewise("Shrink", {9}, "x + bias below -lambd, x - bias above lambd, 0 between them.",
                    {{"bias", Role::factor}, {"lambd", Role::factor}},
                    elementwise<Shrink, RealsAndIntegers>()),
          thresholded_relu()};
}

}  // namespace assay

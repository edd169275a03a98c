// Activations made of exponentials, tanh and erf.
#include <cmath>
#include <numbers>

#include "ops/activation_parts.h"
#include "patterns/elementwise_exact.h"
#include "patterns/elementwise_long.h"

namespace assay {
namespace {

// e^x - 1, as expm1 gives it or as the difference that it is: both are honest.
template <class S>
S exp_less_one(const S& x) {
  if constexpr (Plain<S>)
    return expm1(x);
  else
    return hull(expm1(x), exp(x) - constant<S>(1));
}

struct Sigmoid {
  template <class S>
  S operator()(S x) const {
    return sigmoid(x);
  }
};

struct Softplus {
  template <class S>
  S operator()(S x) const {
    return softplus(x);
  }
};

struct Softsign {
  template <class S>
  S operator()(S x) const {
    return within(x / (constant<S>(1) + abs(x)), -1, 1);
  }
};

struct Elu {
  double alpha;
  explicit Elu(const Call& call) : alpha(call.site.real("alpha")) {}
  template <class S>
  S operator()(S x) const {
    const S curve = constant<S>(alpha) * exp_less_one(piece_below(x, 0));
    return select(less(x, zero<S>()), curve, piece_above(x, 0));
  }
};

struct Selu {
  double alpha, gamma;
  explicit Selu(const Call& call)
      : alpha(call.site.real("alpha")), gamma(call.site.real("gamma")) {}
  template <class S>
  S operator()(S x) const {
    return select(greater(x, zero<S>()), constant<S>(gamma) * piece_above(x, 0),
                  curve(piece_below(x, 0)));
  }

 private:
  // gamma * (alpha * e^x - alpha), or with alpha taken out of the difference.
  template <class S>
  S curve(const S& x) const {
    const S a = constant<S>(alpha), g = constant<S>(gamma);
    const S outside = g * (a * exp_less_one(x));
    if constexpr (Plain<S>)
      return outside;
    else
      return hull(outside, g * (a * exp(x) - a));
  }
};

// max(0, x) + min(0, alpha * (e^(x/alpha) - 1)), where the second term has the sign of x.
struct Celu {
  double alpha;
  explicit Celu(const Call& call) : alpha(call.site.real("alpha")) {}
  template <class S>
  S operator()(S x) const {
    const S a = constant<S>(alpha);
    const bool ordinary = std::isfinite(alpha) && alpha != 0;
    const S negative = ordinary ? min(x, zero<S>()) : x;
    const S curve = a * exp_less_one(negative / a);
    return max(x, zero<S>()) + min(curve, zero<S>());
  }
};

struct Gelu {
  bool tanh_form;
  explicit Gelu(const Call& call) : tanh_form(call.site.text("approximate") == "tanh") {}
  template <class S>
  S operator()(S x) const {
    const S half = constant<S>(0.5) * x;
    return not_below(half * (constant<S>(1) + (tanh_form ? by_tanh(x) : by_erf(x))), -0.1701);
  }

 private:
  template <class S>
  S by_erf(const S& x) const {
    return erf(x / constant<S>(std::numbers::sqrt2));
  }
  // Beyond 20 the tangent is 1 in every format, and the cube need not overflow.
  template <class S>
  S by_tanh(const S& given) const {
    const S x = clamp(given, constant<S>(-20), constant<S>(20));
    const S cube = x * x * x;
    return tanh(constant<S>(std::sqrt(2 / std::numbers::pi)) * (x + constant<S>(0.044715) * cube));
  }
};

struct Mish {
  template <class S>
  S operator()(S x) const {
    return not_below(x * tanh(softplus(x)), -0.30885);
  }
};

struct Swish {
  double alpha;
  explicit Swish(const Call& call) : alpha(call.site.real("alpha")) {}
  template <class S>
  S operator()(S x) const {
    const S y = x * sigmoid(constant<S>(alpha) * x);
    return alpha > 0 ? not_below(y, -0.2784646 / alpha) : y;
  }
  template <class S>
  S operator()(S gate, S x) const {
    return (*this)(gate)*x;
  }
};

Operator smooth(std::string_view name, std::vector<int> versions, std::string_view summary,
                std::vector<AttributeRole> attributes, Meaning meaning) {
  return {.name = name,
          .versions = std::move(versions),
          .summary = summary,
          .attributes = std::move(attributes),
          .infer = same_as_first,
          .meaning = std::move(meaning)};
}

void by_tanh(Builder& b) { b.output(0, b.again({attribute("approximate", "tanh")}).front()); }

Operator gelu() {
  Operator entry = smooth("Gelu", {20}, "x times the probability that a normal number is below x.",
                          {{"approximate", Role::choice}}, elementwise<Gelu>());
  entry.require = [](Check& c) { c.one_of("approximate", {"none", "tanh"}); };
  entry.variants = {{"tanh-form", Variant::Kind::difference,
                     "JAX's gelu unless told otherwise, and GPT-2's", by_tanh}};
  return entry;
}

void linear_above_20(Builder& b) {
  const std::string x = b.input(0);
  b.output(0, b("Where", {b("Greater", {x, b.like(0, 20)}), x, b.again().front()}));
}

Operator softplus_entry() {
  Operator entry = smooth("Softplus", {1, 22}, "log(1 + exp(x)).", {}, elementwise<Softplus>());
  entry.variants = {{"linear-above-20", Variant::Kind::difference,
                     "PyTorch's softplus with its threshold of 20", linear_above_20}};
  return entry;
}

Operator swiglu() {
  Operator entry = smooth("SwiGLU", {28}, "Swish of the gate A, times B.",
                          {{"alpha", Role::factor}}, elementwise_long<Swish>());
  entry.require = [](Check& c) { c.same_shape("A", "B"); };
  return entry;
}

}  // namespace

std::vector<Operator> smooth_operators() {
  return {
      smooth("Celu", {12, 28}, "max(0, x) + min(0, alpha * (exp(x / alpha) - 1)).",
             {{"alpha", Role::factor}}, elementwise<Celu>()),
      smooth("Elu", {1, 6, 22}, "x from zero up, alpha * (exp(x) - 1) below.",
             {{"alpha", Role::factor}, {"consumed_inputs", Role::number}}, elementwise<Elu>()),
      gelu(),
      smooth("Mish", {18, 22}, "x * tanh(softplus(x)).", {}, elementwise<Mish>()),
      smooth("Selu", {1, 6, 22}, "gamma * x above zero, gamma * alpha * (exp(x) - 1) elsewhere.",
             {{"alpha", Role::factor}, {"consumed_inputs", Role::number}, {"gamma", Role::factor}},
             elementwise<Selu>()),
      smooth("Sigmoid", {1, 6, 13}, "1 / (1 + exp(-x)).", {{"consumed_inputs", Role::number}},
             elementwise_exact<Sigmoid, true>(sigmoid_margins, elementwise_long<Sigmoid>())),
      softplus_entry(),
      smooth("Softsign", {1, 22}, "x / (1 + |x|).", {}, elementwise<Softsign>()),
      swiglu(),
      smooth("Swish", {24}, "x * sigmoid(alpha * x).", {{"alpha", Role::factor}},
             elementwise_long<Swish>())};
}

}  // namespace assay

// Functions of one number, applied to each element.
#include "ops/families.h"
#include "patterns/elementwise_long.h"

namespace assay {
namespace {

#define ASSAY_BODY(Name, expression) \
  struct Name {                      \
    template <class S>               \
    S operator()(S x) const {        \
      return expression;             \
    }                                \
  }

ASSAY_BODY(Abs, abs(x));
ASSAY_BODY(Acos, acos(x));
ASSAY_BODY(Acosh, acosh(x));
ASSAY_BODY(Asin, asin(x));
ASSAY_BODY(Asinh, asinh(x));
ASSAY_BODY(Atan, atan(x));
ASSAY_BODY(Atanh, atanh(x));
ASSAY_BODY(Ceil, ceil(x));
ASSAY_BODY(Cos, cos(x));
ASSAY_BODY(Cosh, cosh(x));
ASSAY_BODY(Exp, exp(x));
ASSAY_BODY(Floor, floor(x));
ASSAY_BODY(Log, log(x));
ASSAY_BODY(Neg, -x);
ASSAY_BODY(Reciprocal, reciprocal(x));
ASSAY_BODY(Round, round_even(x));
ASSAY_BODY(Sign, sign(x));
ASSAY_BODY(Sin, sin(x));
ASSAY_BODY(Sinh, sinh(x));
ASSAY_BODY(Sqrt, sqrt(x));
ASSAY_BODY(Tan, tan(x));
ASSAY_BODY(Tanh, tanh(x));

#undef ASSAY_BODY

// Version 9 takes integers too: the result is cut to one.
struct Erf {
  bool whole;
  explicit Erf(const Call& call) : whole(!is_real(call.output_type(0))) {}
  template <class S>
  S operator()(S x) const {
    const S y = erf(x);
    return whole ? truncate(y) : y;
  }
};

struct IsNaN {
  template <class S>
  Condition<S> operator()(S x) const {
    return is_nan(x);
  }
};

struct IsInf {
  bool positive, negative;
  explicit IsInf(const Call& call)
      : positive(call.site.integer("detect_positive") != 0),
        negative(call.site.integer("detect_negative") != 0) {}
  template <class S>
  Condition<S> operator()(S x) const {
    return is_infinite(x, positive, negative);
  }
};

void same_shape_of_bool(Infer& n) {
  same_as_first(n);
  if (!n.outputs.empty()) n.outputs[0].element = ElementType::boolean;
}

// Version 1 has the attribute consumed_inputs, which says nothing about the result.
Operator unary(std::string_view name, std::vector<int> versions, std::string_view summary,
               Meaning meaning) {
  std::vector<AttributeRole> attributes;
  if (versions.front() == 1) attributes.push_back({"consumed_inputs", Role::number});
  return {.name = name,
          .versions = std::move(versions),
          .summary = summary,
          .attributes = std::move(attributes),
          .infer = same_as_first,
          .meaning = std::move(meaning)};
}

Operator is_nan_entry() {
  return {.name = "IsNaN",
          .versions = {9, 13, 20},
          .summary = "Whether x is NaN.",
          .attributes = {},
          .infer = same_shape_of_bool,
          .meaning = elementwise<IsNaN>()};
}

Operator is_inf_entry() {
  return {.name = "IsInf",
          .versions = {10, 20},
          .summary = "Whether x is infinite, of the signs that are asked for.",
          .attributes = {{"detect_negative", Role::flag}, {"detect_positive", Role::flag}},
          .infer = same_shape_of_bool,
          .meaning = elementwise<IsInf>()};
}

void away_from_zero(Builder& b) {
  const std::string size = b("Add", {b("Abs", {b.input(0)}), b.like(0, 0.5)});
  b.output(0, b("Mul", {b("Sign", {b.input(0)}), b("Floor", {size})}));
}

Operator round_entry() {
  Operator entry = unary("Round", {11, 22}, "The nearest whole number; of two, the even one.",
                         elementwise<Round>());
  entry.variants = {{"halves-away-from-zero", Variant::Kind::difference,
                     "MXNet's round, which is C's", away_from_zero}};
  return entry;
}

void nan_has_no_sign(Builder& b) {
  const std::string x = b.input(0);
  b.output(0, b("Where", {b("IsNaN", {x}), b.like(0, 0), b("Sign", {x})}));
}

Operator sign_entry() {
  Operator entry = unary("Sign", {9, 13}, "1 above zero, -1 below, 0 at it; NaN stays.",
                         elementwise<Sign, RealsAndIntegers>());
  entry.variants = {{"nan-is-zero", Variant::Kind::difference,
                     "TensorFlow Lite 2.21 and others that compare with zero", nan_has_no_sign}};
  return entry;
}

std::vector<Operator> arithmetic_unary() {
  return {unary("Abs", {1, 6, 13}, "The magnitude; the smallest integer of a type stays as it is.",
                elementwise<Abs, RealsAndIntegers>()),
          unary("Ceil", {1, 6, 13}, "The smallest whole number not below x.", elementwise<Ceil>()),
          unary("Floor", {1, 6, 13}, "The largest whole number not above x.", elementwise<Floor>()),
          unary("Neg", {1, 6, 13}, "-x.", elementwise<Neg, RealsAndIntegers>()),
          unary("Reciprocal", {1, 6, 13}, "1 / x.", elementwise<Reciprocal>()),
          unary("Sqrt", {1, 6, 13}, "The square root; NaN below zero.", elementwise<Sqrt>())};
}

std::vector<Operator> transcendental_unary() {
  return {
      unary("Acos", {7, 22}, "The angle in [0, pi] whose cosine is x.", elementwise<Acos>()),
      unary("Acosh", {9, 22}, "The number from 0 up whose hyperbolic cosine is x.",
            elementwise<Acosh>()),
      unary("Asin", {7, 22}, "The angle in [-pi/2, pi/2] whose sine is x.", elementwise<Asin>()),
      unary("Asinh", {9, 22}, "The number whose hyperbolic sine is x.", elementwise<Asinh>()),
      unary("Atan", {7, 22}, "The angle in [-pi/2, pi/2] whose tangent is x.", elementwise<Atan>()),
      unary("Atanh", {9, 22}, "The number whose hyperbolic tangent is x.", elementwise<Atanh>()),
      unary("Cos", {7, 22}, "The cosine of x radians.", elementwise<Cos>()),
      unary("Cosh", {9, 22}, "The hyperbolic cosine.", elementwise<Cosh>()),
      unary("Erf", {9, 13}, "The error function.", elementwise<Erf>()),
      unary("Exp", {1, 6, 13}, "e to the power x.", elementwise_long<Exp>()),
      unary("Log", {1, 6, 13}, "The natural logarithm; NaN below zero.", elementwise<Log>()),
      unary("Sin", {7, 22}, "The sine of x radians.", elementwise<Sin>()),
      unary("Sinh", {9, 22}, "The hyperbolic sine.", elementwise<Sinh>()),
      unary("Tan", {7, 22}, "The tangent of x radians.", elementwise<Tan>()),
      unary("Tanh", {1, 6, 13}, "The hyperbolic tangent.", elementwise_long<Tanh>())};
}

}  // namespace

std::vector<Operator> unary_operators() {
  std::vector<Operator> all = {is_inf_entry(), is_nan_entry(), round_entry(), sign_entry()};
  for (auto part : {arithmetic_unary, transcendental_unary})
    for (Operator& entry : part()) all.push_back(std::move(entry));
  return all;
}

}  // namespace assay

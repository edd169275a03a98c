// Arithmetic on two or more tensors that broadcast.
#include "ops/broadcast.h"
#include "ops/families.h"
#include "patterns/elementwise_exact.h"

namespace assay {
namespace {

struct Add {
  template <class S>
  S operator()(S a, S b) const {
    return a + b;
  }
};

struct Sub {
  template <class S>
  S operator()(S a, S b) const {
    return a - b;
  }
};

struct Mul {
  template <class S>
  S operator()(S a, S b) const {
    return a * b;
  }
};

// Bodies over ranges of integers compute in reals: what an integer would have cut off goes here.
struct CutToType {
  bool whole;
  explicit CutToType(const Call& call) : whole(!is_real(call.output_type(0))) {}
  template <class S>
  S operator()(const S& x) const {
    return whole ? truncate(x) : x;
  }
};

struct Div {
  CutToType cut;
  explicit Div(const Call& call) : cut(call) {}
  template <class S>
  S operator()(S a, S b) const {
    return cut(divide(a, b));
  }
};

// The exponent may be of another type than the base, whose type the result has.
struct Pow {
  CutToType cut;
  bool natural_exponent, squares;
  explicit Pow(const Call& call)
      : cut(call),
        natural_exponent(domain_of(call.input(1).type()) == Domain::unsigned_integer),
        squares(is_two(call.input(1))) {}
  template <class S>
  S operator()(S a, S b) const {
    if constexpr (std::is_same_v<S, double>)
      if (squares) return a * a;
    if constexpr (std::is_same_v<S, std::int64_t>)
      if (natural_exponent) return wrapped(pow(unwrapped(a), unwrapped(b)));
    return cut(pow(a, b));
  }

 private:
  static bool is_two(const Value& exponent) {
    return exponent.exact() && exponent.tensor().size() == 1 && exponent.tensor().real(0) == 2;
  }
};

struct Mod {
  bool toward_zero, whole;
  explicit Mod(const Call& call)
      : toward_zero(call.site.integer("fmod") != 0), whole(!is_real(call.output_type(0))) {}
  template <class S>
  S operator()(S a, S b) const {
    S rest = toward_zero ? fmod(a, b) : floor_mod(a, b);
    // Whole numbers leave at most one less than a positive divisor.
    if constexpr (std::is_same_v<S, Interval>)
      if (whole && b.low >= 1) rest = meet(rest, {1 - b.high, b.high - 1, rest.nan});
    return rest;
  }
};

struct Maximum {
  template <class S>
  S operator()(S a, S b) const {
    return max(a, b);
  }
  template <class S>
  S operator()(S a, S b, S c) const {
    return max(max(a, b), c);
  }
  template <class S>
  S operator()(std::span<const S> x) const {
    return maximum(x);
  }
};

struct Minimum {
  template <class S>
  S operator()(S a, S b) const {
    return min(a, b);
  }
  template <class S>
  S operator()(S a, S b, S c) const {
    return min(min(a, b), c);
  }
  template <class S>
  S operator()(std::span<const S> x) const {
    return minimum(x);
  }
};

struct Sum {
  template <class S>
  S operator()(S a, S b) const {
    return a + b;
  }
  template <class S>
  S operator()(std::span<const S> x) const {
    return sum(x);
  }
};

struct Mean {
  template <class S>
  S operator()(std::span<const S> x) const {
    return mean(x);
  }
};

// The gradient of a broadcast input: summed over the axes along which it was repeated.
std::string sum_to_input(Builder& b, std::size_t input, std::string gradient) {
  const Dims &to = *b.site().dims(input), &from = *b.site().dims(2);
  std::vector<std::int64_t> axes;
  const std::size_t extra = from.size() - to.size();
  for (std::size_t d = 0; d < from.size(); ++d)
    if (d < extra || to[d - extra].value != from[d].value)
      axes.push_back(static_cast<std::int64_t>(d));
  if (!axes.empty())
    gradient = b("ReduceSum", {gradient, b.integers(axes)}, {attribute("keepdims", 1)});
  return b("Reshape", {gradient, b.integers(*to_shape(to))}, {attribute("allowzero", 1)});
}

void add_adjoint(Builder& b) {
  b.output(0, sum_to_input(b, 0, b.input(3)));
  b.output(1, sum_to_input(b, 1, b.input(3)));
}

void sub_adjoint(Builder& b) {
  b.output(0, sum_to_input(b, 0, b.input(3)));
  b.output(1, sum_to_input(b, 1, b("Neg", {b.input(3)})));
}

void mul_adjoint(Builder& b) {
  b.output(0, sum_to_input(b, 0, b("Mul", {b.input(3), b.input(1)})));
  b.output(1, sum_to_input(b, 1, b("Mul", {b.input(3), b.input(0)})));
}

void div_adjoint(Builder& b) {
  const std::string share = b("Div", {b.input(3), b.input(1)});
  b.output(0, sum_to_input(b, 0, share));
  b.output(1, sum_to_input(b, 1, b("Neg", {b("Mul", {share, b.input(2)})})));
}

Operator binary(std::string_view name, std::vector<int> versions, std::string_view summary,
                Meaning meaning) {
  return {.name = name,
          .versions = std::move(versions),
          .summary = summary,
          .attributes = kBroadcastRoles,
          .require = require_broadcast,
          .infer = infer_broadcast,
          .meaning = aligned(std::move(meaning))};
}

Operator variadic(std::string_view name, std::vector<int> versions, std::string_view summary,
                  Meaning meaning) {
  return {.name = name,
          .versions = std::move(versions),
          .summary = summary,
          .attributes = {{"consumed_inputs", Role::number}},
          .require = require_all_broadcast,
          .infer = broadcast_all,
          .meaning = std::move(meaning)};
}

std::string cast_to(Builder& b, std::string value, ElementType type) {
  return b("Cast", {std::move(value)}, {attribute("to", static_cast<std::int64_t>(type))});
}

// Narrow unsigned integers held at the ends of their type instead of wrapped.
void saturated(Builder& b) {
  const ElementType type = b.site().element(0);
  if (domain_of(type) != Domain::unsigned_integer || bit_width(type) > 16)
    return b.output(0, b.again().front());
  const std::string wide = b.again_on({cast_to(b, b.input(0), ElementType::i32),
                                       cast_to(b, b.input(1), ElementType::i32)})
                               .front();
  const std::string low = b.constant(make_scalar(ElementType::i32, 0));
  const std::string high =
      b.constant(make_scalar(ElementType::i32, static_cast<double>(largest_integer(type))));
  b.output(0, cast_to(b, b("Clip", {wide, low, high}), type));
}

Operator add() {
  Operator entry =
      binary("Add", {1, 6, 7, 13, 14}, "The sum of two tensors, element by element.",
             elementwise_exact<Add>(sum_margins, elementwise<Add, RealsAndIntegers>()));
  entry.adjoint = {add_adjoint, ""};
  entry.variants = {{"saturates", Variant::Kind::defect, "OpenVINO 2026.4 in uint8", saturated}};
  return entry;
}

Operator sub() {
  Operator entry =
      binary("Sub", {1, 6, 7, 13, 14}, "A - B, element by element.",
             elementwise_exact<Sub>(difference_margins, elementwise<Sub, RealsAndIntegers>()));
  entry.adjoint = {sub_adjoint, ""};
  return entry;
}

Operator mul() {
  Operator entry =
      binary("Mul", {1, 6, 7, 13, 14}, "The product of two tensors, element by element.",
             elementwise_exact<Mul>(product_margins, elementwise<Mul, RealsAndIntegers>()));
  entry.adjoint = {mul_adjoint, ""};
  return entry;
}

// Integers divided in single precision.
void in_single_precision(Builder& b) {
  const ElementType type = b.site().element(0);
  if (is_real(type)) return b.output(0, b.again().front());
  const std::string quotient = b(
      "Div", {cast_to(b, b.input(0), ElementType::f32), cast_to(b, b.input(1), ElementType::f32)});
  b.output(0, cast_to(b, quotient, type));
}

// The reciprocal of zero is taken for the largest finite number.
void finite_reciprocal(Builder& b) {
  const ElementType type = b.site().element(0);
  if (!is_real(type)) return b.output(0, b.again().front());
  const double largest = format_of(type).largest;
  const std::string factor =
      b("Clip", {b("Reciprocal", {b.input(1)}), b.like(0, -largest), b.like(0, largest)});
  b.output(0, b("Mul", {b.input(0), factor}));
}

Operator div() {
  Operator entry =
      binary("Div", {1, 6, 7, 13, 14}, "A / B, element by element; of integers, cut toward zero.",
             elementwise<Div, RealsAndIntegers>());
  entry.adjoint = {div_adjoint, ""};
  entry.variants = {{"in-single-precision", Variant::Kind::defect, "OpenVINO 2026.4 for int32",
                     in_single_precision},
                    {"finite-reciprocal", Variant::Kind::defect,
                     "TensorFlow Lite 2.21, which converts a division by a constant into a product",
                     finite_reciprocal}};
  return entry;
}

void require_mod(Check& c) {
  c.broadcastable();
  if (!c.in_range("fmod", between(0, 1)) || c.site.version() >= 28) return;
  const bool real = is_real(c.site.element(0));
  c.argument(!real || c.site.integer("fmod") == 1, "fmod-for-reals",
             "fmod = 1 for floating-point inputs below version 28", "0");
}

// a - b * floor(a / b) in single precision.
void mod_in_single_precision(Builder& b) {
  const ElementType type = b.site().element(0);
  if (is_real(type)) return b.output(0, b.again().front());
  const std::string x = cast_to(b, b.input(0), ElementType::f32);
  const std::string y = cast_to(b, b.input(1), ElementType::f32);
  const std::string whole = b("Floor", {b("Div", {x, y})});
  b.output(0, cast_to(b, b("Sub", {x, b("Mul", {y, whole})}), type));
}

Operator mod() {
  return {.name = "Mod",
          .versions = {10, 13, 28},
          .summary = "What A divided by B leaves: with the sign of B, or of A with fmod.",
          .attributes = {{"fmod", Role::flag}},
          .require = require_mod,
          .infer = broadcast_all,
          .meaning = elementwise<Mod, RealsAndIntegers>(),
          .variants = {{"in-single-precision", Variant::Kind::defect,
                        "OpenVINO 2026.4 for integers", mod_in_single_precision}}};
}

// A comparison with NaN is false, so what is compared last wins.
void nan_on_the_left_is_lost(Builder& b) {
  if (!is_real(b.site().element(0))) return b.output(0, b.again().front());
  std::string least = b.input(0);
  for (std::size_t i = 1; i < b.site().input_count(); ++i)
    least = b("Where", {b("Less", {least, b.input(i)}), least, b.input(i)});
  b.output(0, least);
}

Operator min() {
  Operator entry = variadic("Min", {1, 6, 8, 12, 13},
                            "The smallest of the elements at each place; NaN if one of them is.",
                            elementwise<Minimum, RealsAndIntegers>());
  entry.variants = {{"nan-on-the-left-is-lost", Variant::Kind::difference,
                     "TensorFlow Lite 2.21 (minimum)", nan_on_the_left_is_lost}};
  return entry;
}

// Integers raised in double precision.
void in_double_precision(Builder& b) {
  const ElementType type = b.site().element(0);
  if (is_real(type)) return b.output(0, b.again().front());
  const std::string power = b("Pow", {cast_to(b, b.input(0), ElementType::f64), b.input(1)});
  b.output(0, cast_to(b, power, type));
}

Operator pow_entry() {
  return {.name = "Pow",
          .versions = {1, 7, 12, 13, 15},
          .summary = "X to the power Y, in the type of X.",
          .attributes = {{"axis", Role::axis}, {"broadcast", Role::flag}},
          .require = require_broadcast,
          .infer = infer_broadcast,
          .meaning = aligned(elementwise<Pow, RealsAndIntegers>()),
          .variants = {{"in-double-precision", Variant::Kind::defect, "ONNX Runtime 1.31 for int64",
                        in_double_precision}}};
}

}  // namespace

std::vector<Operator> arithmetic_operators() {
  return {
      add(),
      div(),
      variadic("Max", {1, 6, 8, 12, 13},
               "The largest of the elements at each place; NaN if one of them is NaN.",
               elementwise<Maximum, RealsAndIntegers>()),
      variadic("Mean", {1, 6, 8, 13}, "The mean of the elements at each place.",
               elementwise<Mean>()),
      min(),
      mod(),
      mul(),
      pow_entry(),
      sub(),
      variadic("Sum", {1, 6, 8, 13}, "The sum of the elements at each place.", elementwise<Sum>())};
}

}  // namespace assay

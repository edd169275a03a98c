// Conversions between element types.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "graph/names.h"
#include "ops/alignment.h"
#include "ops/families.h"
#include "patterns/array.h"
#include "tensor/convert.h"

namespace assay {
namespace {

// Version 1 names the type in words, later ones number it.
std::optional<ElementType> target_type(const Site& site) {
  if (site.has_input(1)) return site.element(1);  // CastLike
  const std::string& word = site.text("to");
  if (!word.empty()) {
    std::string lower = word;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    return element_type_from_standard_name(lower);
  }
  const std::int64_t number = site.integer("to");
  if (number <= 0 || number >= kElementTypeCount) return std::nullopt;
  return static_cast<ElementType>(number);
}

bool is_float8(ElementType type) {
  return is_real(type) && bit_width(type) == 8 && type != ElementType::f8e8m0;
}

// "+INF", "INF", "-INF" and "NaN" in any case, else a decimal number.
double parse_number(const std::string& text) {
  std::string lower = text;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  char* end = nullptr;
  const double value = std::strtod(lower.c_str(), &end);
  if (end == lower.c_str() || *end != '\0')
    throw EvaluationError("Cast.number", fmt::format("{} is no number", in_quotes(text)));
  return value;
}

std::string print_number(const Tensor& tensor, std::int64_t i) {
  if (tensor.type() == ElementType::boolean) return tensor.integer(i) != 0 ? "True" : "False";
  if (!is_real(tensor.type()))
    return domain_of(tensor.type()) == Domain::unsigned_integer
               ? fmt::format("{}", static_cast<std::uint64_t>(tensor.integer(i)))
               : fmt::format("{}", tensor.integer(i));
  const double value = tensor.real(i);
  if (std::isinf(value)) return value > 0 ? "INF" : "-INF";
  if (std::isnan(value)) return "NaN";
  return tensor.type() == ElementType::f64 ? fmt::format("{}", value)
                                           : fmt::format("{}", static_cast<float>(value));
}

Tensor to_strings(const Tensor& from) {
  std::vector<std::string> texts;
  for (std::int64_t i = 0; i < from.size(); ++i) texts.push_back(print_number(from, i));
  return make_strings(from.shape(), std::move(texts));
}

// How a conversion treats what its type cannot hold.
struct Rules {
  ElementType to;
  bool saturate;
  PowerRounding powers;

  explicit Rules(const Site& site)
      : to(*target_type(site)),
        saturate(site.integer("saturate", 1) != 0),
        powers(PowerRounding::up) {
    if (site.text("round_mode") == "down") powers = PowerRounding::down;
    if (site.text("round_mode") == "nearest") powers = PowerRounding::nearest;
    saturate = saturate && (is_float8(to) || to == ElementType::f8e8m0);
  }
};

void store(const Rules& rules, std::vector<double>& values, Tensor& result) {
  if (rules.to == ElementType::boolean)
    for (double& x : values) x = x != 0 ? 1 : 0;
  if (rules.to == ElementType::f8e8m0)
    for (double& x : values) x = round_to_e8m0(x, rules.powers, rules.saturate);
  from_doubles(rules.to, values.data(), static_cast<std::int64_t>(values.size()),
               result.mutable_raw(), rules.saturate);
}

// One rounding, so the result is exact whatever the reading.
Tensor converted(const Tensor& from, const Rules& rules) {
  Tensor result(rules.to, from.shape());
  const std::int64_t size = from.size();
  if (from.type() == ElementType::string) {
    std::vector<double> values;
    for (const std::string& text : from.data<std::string>()) values.push_back(parse_number(text));
    store(rules, values, result);
  } else if (is_real(from.type()) || rules.to == ElementType::boolean ||
             rules.to == ElementType::f8e8m0) {
    std::vector<double> values(static_cast<std::size_t>(size));
    to_doubles(from, 0, size, values.data());
    store(rules, values, result);
  } else if (domain_of(from.type()) == Domain::unsigned_integer) {
    std::vector<std::uint64_t> values(static_cast<std::size_t>(size));
    to_integers(from, 0, size, values.data());
    from_integers(rules.to, values.data(), size, result.mutable_raw(), rules.saturate);
  } else {
    std::vector<std::int64_t> values(static_cast<std::size_t>(size));
    to_integers(from, 0, size, values.data());
    from_integers(rules.to, values.data(), size, result.mutable_raw(), rules.saturate);
  }
  return result;
}

// Powers of two round by a mode of their own; below zero they have no number.
Interval to_power(Interval range, const Rules& rules) {
  if (!range.has_number()) return range;
  const auto round = [&](double x) { return round_to_e8m0(x, rules.powers, rules.saturate); };
  const double low = round(std::max(range.low, 0.0)), high = round(range.high);
  if (std::isnan(low) || std::isnan(high)) return Interval::everything();
  return {low, high, range.nan || range.low < 0};
}

template <class S>
Value converted_spread(const Value& from, const Rules& rules) {
  Array<S> x = load<S>(from);
  const RoundingScope scope(rounding_of(rules.to));
  const double largest = is_real(rules.to) ? format_of(rules.to).largest : 0;
  for (S& value : x.data) {
    if (rules.to == ElementType::f8e8m0) {
      if constexpr (std::is_same_v<S, Interval>)
        value = to_power(value, rules);
      else
        value = Bounded::anything(round_to_e8m0(value.value, rules.powers, rules.saturate));
    } else if (rules.to == ElementType::boolean)
      value = select(equal(value, zero<S>()), zero<S>(), constant<S>(1.0));
    else if (!is_real(rules.to))
      value = truncate(value);
    else if (rules.saturate || !format_of(rules.to).has_nan)
      value = clamp(value, constant<S>(-largest), constant<S>(largest));
  }
  return settle(rules.to, x);
}

void evaluate_cast(Call& call) {
  const Value& from = call.input(0);
  const Rules rules(call.site);
  if (from.type() == rules.to)
    call.outputs[0] = from;
  else if (rules.to == ElementType::string)
    call.outputs[0] = to_strings(call.exact(0));
  else if (from.exact())
    call.outputs[0] = converted(from.tensor(), rules);
  else if (call.reading == Reading::bounded)
    call.outputs[0] = converted_spread<Bounded>(from, rules);
  else
    call.outputs[0] = converted_spread<Interval>(from, rules);
}

void require_cast(Check& c) {
  const auto to = target_type(c.site);
  const bool good = to && *to != ElementType::undefined && domain_of(*to) != Domain::complex;
  c.argument(good, "target-type", "to one of the element types",
             to ? std::string(short_name(*to)) : "none");
  c.one_of("round_mode", {"up", "down", "nearest"});
}

void infer_cast(Infer& n) {
  ValueType type = n.site.type(0);
  type.element = target_type(n.site).value_or(ElementType::undefined);
  n.output(0, std::move(type));
}

// What C and most frameworks do on x86 with a float that no 32-bit integer holds.
void out_of_range_is_smallest(Builder& b) {
  const ElementType to = *target_type(b.site());
  if (!is_integer(to)) return b.output(0, b.again().front());
  const double low = static_cast<double>(smallest_integer(to)),
               high = static_cast<double>(largest_integer(to));
  const std::string x = b.input(0), cast = b.again().front();
  const std::string outside =
      b("Or", {b("Less", {x, b.like(0, low)}), b("Greater", {x, b.like(0, high)})});
  b.output(0, b("Where", {outside, b.constant(make_scalar(to, low)), cast}));
}

void out_of_range_saturates(Builder& b) {
  const ElementType to = *target_type(b.site());
  if (!is_integer(to)) return b.output(0, b.again().front());
  const std::string low = b.like(0, static_cast<double>(smallest_integer(to)));
  const std::string high = b.like(0, static_cast<double>(largest_integer(to)));
  b.output(0, b.again_on({b("Clip", {b.input(0), low, high})}).front());
}

Operator cast() {
  return {
      .name = "Cast",
      .versions = {1, 6, 9, 13, 19, 21, 23, 24, 25, 28},
      .summary = "The elements converted to another type.",
      .attributes = {{"round_mode", Role::choice}, {"saturate", Role::flag}, {"to", Role::type}},
      .require = require_cast,
      .infer = infer_cast,
      .align = align_first_alone,
      .meaning = custom(Pattern::elementwise, evaluate_cast),
      .variants = {{"out-of-range-is-smallest", Variant::Kind::difference,
                    "x86 conversions: frameworks on CPU", out_of_range_is_smallest},
                   {"out-of-range-saturates", Variant::Kind::difference,
                    "ARM and GPU conversions: JAX, TensorFlow on GPU", out_of_range_saturates}}};
}

Operator cast_like() {
  return {.name = "CastLike",
          .versions = {15, 19, 21, 23, 24, 25},
          .summary = "The elements converted to the type of another tensor.",
          .attributes = {{"round_mode", Role::choice}, {"saturate", Role::flag}},
          .require = require_cast,
          .infer = infer_cast,
          .align = align_first_alone,
          .meaning = custom(Pattern::elementwise, evaluate_cast)};
}

// Bits of positive floats grow with their value, and those of non-negative integers are themselves;
// other ranges may become anything, zero being one of two.
Interval recast(Interval range, ElementType from, ElementType to) {
  const bool grown = is_real(from) ? range.low > 0 : range.low >= 0;
  if (range.nan || !grown) return whole_range(to);
  const auto bits = [&](double x) {
    return is_real(from) ? to_bits(from, x) : static_cast<std::uint64_t>(x);
  };
  const auto value = [&](std::uint64_t b) {
    return is_real(to) ? from_bits(to, b) : static_cast<double>(b);
  };
  const Interval result{value(bits(range.low)), value(bits(range.high)), false};
  const bool grows = result.low <= result.high && result.high <= whole_range(to).high &&
                     std::isfinite(result.high);
  return grows ? result : whole_range(to);
}

void evaluate_bit_cast(Call& call) {
  const ElementType to = *target_type(call.site);
  const Value& from = call.input(0);
  if (from.exact()) {
    call.outputs[0] = *from_file_bytes(to, from.shape(), to_file_bytes(from.tensor()));
    return;
  }
  Array<Interval> x;
  x.shape = from.shape();
  if (call.reading == Reading::interval)
    x = load<Interval>(from);
  else
    throw InexactDecision("the bits of a bounded value are not known");
  for (Interval& range : x.data) range = recast(range, from.type(), to);
  call.outputs[0] = settle(to, x);
}

Operator bit_cast() {
  return {.name = "BitCast",
          .versions = {26},
          .summary = "The same bits, read as another type of the same width.",
          .attributes = {{"to", Role::type}},
          .require =
              [](Check& c) {
                const auto to = target_type(c.site);
                const ElementType from = c.site.element(0);
                c.argument(to && *to != ElementType::string && bit_width(*to) == bit_width(from),
                           "same-width", fmt::format("a type of {} bits", bit_width(from)),
                           to ? std::string(short_name(*to)) : "none");
              },
          .infer = infer_cast,
          .meaning = custom(Pattern::elementwise, evaluate_bit_cast)};
}

}  // namespace

std::vector<Operator> cast_operators() { return {bit_cast(), cast(), cast_like()}; }

}  // namespace assay

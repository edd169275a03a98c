// Three-valued conditions: what a comparison of bounded numbers or intervals may say.
#pragma once

namespace assay {

// `value` is what the comparison of the values says; an interval has none and says may_be_true.
struct Truth {
  bool may_be_true = false;
  bool may_be_false = false;
  bool value = false;

  static constexpr Truth known(bool value) { return {value, !value, value}; }
  static constexpr Truth unknown(bool value) { return {true, true, value}; }

  constexpr bool is_known() const { return may_be_true != may_be_false; }
  constexpr bool contains(bool x) const { return x ? may_be_true : may_be_false; }
};

constexpr Truth negate(Truth c) { return {c.may_be_false, c.may_be_true, !c.value}; }

constexpr Truth both(Truth c, Truth d) {
  return {c.may_be_true && d.may_be_true, c.may_be_false || d.may_be_false, c.value && d.value};
}

constexpr Truth either(Truth c, Truth d) { return negate(both(negate(c), negate(d))); }

constexpr Truth exclusive(Truth c, Truth d) {
  return {(c.may_be_true && d.may_be_false) || (c.may_be_false && d.may_be_true),
          (c.may_be_true && d.may_be_true) || (c.may_be_false && d.may_be_false),
          c.value != d.value};
}

constexpr bool negate(bool c) { return !c; }
constexpr bool both(bool c, bool d) { return c && d; }
constexpr bool either(bool c, bool d) { return c || d; }
constexpr bool exclusive(bool c, bool d) { return c != d; }

}  // namespace assay

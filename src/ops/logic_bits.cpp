// Operators on the bits of integers.
#include "ops/logic_bits.h"

#include <algorithm>
#include <cmath>

#include "patterns/elementwise.h"

namespace assay {
namespace {

// The smallest 2^k - 1 that is not below x >= 0: what and, or and xor of such numbers stay under.
double all_ones(double x) {
  double power = 1;
  while (power <= x) power *= 2;
  return power - 1;
}

bool not_negative(std::span<const Interval> x) {
  return std::all_of(x.begin(), x.end(), [](const Interval& i) { return i.low >= 0 && !i.nan; });
}

struct OfType {
  ElementType type;
  explicit OfType(const Call& call) : type(call.output_type(0)) {}
};

struct BitwiseAnd : OfType {
  using OfType::OfType;
  template <class S>
  S operator()(S a, S b) const {
    return a & b;
  }
  Interval range(std::span<const Interval> x) const {
    if (x[0].low >= 0 && x[1].low >= 0) return {0, std::min(x[0].high, x[1].high), false};
    if (x[0].low >= 0) return {0, x[0].high, false};
    if (x[1].low >= 0) return {0, x[1].high, false};
    return whole_range(type);
  }
};

struct BitwiseOr : OfType {
  using OfType::OfType;
  template <class S>
  S operator()(S a, S b) const {
    return a | b;
  }
  Interval range(std::span<const Interval> x) const {
    if (!not_negative(x)) return whole_range(type);
    return {std::max(x[0].low, x[1].low), all_ones(std::max(x[0].high, x[1].high)), false};
  }
};

struct BitwiseXor : OfType {
  using OfType::OfType;
  template <class S>
  S operator()(S a, S b) const {
    return a ^ b;
  }
  Interval range(std::span<const Interval> x) const {
    if (!not_negative(x)) return whole_range(type);
    return {0, all_ones(std::max(x[0].high, x[1].high)), false};
  }
};

// The largest number of an unsigned type less x, or -1 - x.
struct BitwiseNot : OfType {
  using OfType::OfType;
  template <class S>
  S operator()(S x) const {
    return ~x;
  }
  Interval range(std::span<const Interval> x) const {
    const double top = whole_range(type).low < 0 ? -1 : whole_range(type).high;
    return {top - x[0].high, top - x[0].low, false};
  }
};

// An amount below 0, or of all bits and more, leaves nothing but copies of the sign.
struct BitShift : OfType {
  bool left;
  int width;
  explicit BitShift(const Call& call)
      : OfType(call), left(call.site.text("direction") == "LEFT"), width(bit_width(type)) {}
  template <class S>
  S operator()(S x, S amount) const {
    const bool inside = amount >= 0 && amount < static_cast<S>(width);
    if (left) return inside ? x << amount : 0;
    return inside ? x >> amount : x < 0 ? static_cast<S>(-1) : 0;
  }
  Interval range(std::span<const Interval> x) const {
    const double fewest = x[1].low, most = x[1].high;
    if (!(fewest >= 0 && most < width)) return left ? whole_range(type) : shrunk(x[0]);
    if (left)
      return {scaled(x[0].low, x[0].low < 0 ? most : fewest),
              scaled(x[0].high, x[0].high < 0 ? fewest : most), false};
    return {std::floor(scaled(x[0].low, x[0].low < 0 ? -fewest : -most)),
            std::floor(scaled(x[0].high, x[0].high < 0 ? -most : -fewest)), false};
  }

 private:
  static double scaled(double x, double amount) { return std::ldexp(x, static_cast<int>(amount)); }
  // Shifted to the right by something: no farther from 0, or -1.
  static Interval shrunk(const Interval& x) {
    return {x.low < 0 ? x.low : 0, x.high < 0 ? -1 : x.high, false};
  }
};

Operator bits(std::string_view name, std::string_view summary, Meaning meaning) {
  return {.name = name,
          .versions = {18},
          .summary = summary,
          .attributes = {},
          .require = [](Check& c) { c.broadcastable(); },
          .infer = broadcast_all,
          .meaning = std::move(meaning)};
}

void require_shift(Check& c) {
  c.broadcastable();
  c.one_of("direction", {"LEFT", "RIGHT"});
}

// The amount taken modulo the width, as the shifts of a processor do.
void amount_modulo_width(Builder& b) {
  const int width = bit_width(b.site().element(0));
  b.output(0, b.again_on({b.input(0), b("Mod", {b.input(1), b.like(1, width)})}).front());
}

Operator bit_shift() {
  return {.name = "BitShift",
          .versions = {11, 28},
          .summary = "The bits of X moved by Y places; to the right the sign moves in.",
          .attributes = {{"direction", Role::choice}},
          .require = require_shift,
          .infer = broadcast_all,
          .meaning = elementwise<BitShift, Bits>(),
          .variants = {{"amount-modulo-width", Variant::Kind::difference,
                        "the shifts of x86 processors, on 32 and 64 bits", amount_modulo_width}}};
}

}  // namespace

std::vector<Operator> bit_operators() {
  return {bit_shift(),
          bits("BitwiseAnd", "The bits that both have.", elementwise<BitwiseAnd, Bits>()),
          bits("BitwiseNot", "The bits that x lacks.", elementwise<BitwiseNot, Bits>()),
          bits("BitwiseOr", "The bits that either has.", elementwise<BitwiseOr, Bits>()),
          bits("BitwiseXor", "The bits that one has and the other lacks.",
               elementwise<BitwiseXor, Bits>())};
}

}  // namespace assay

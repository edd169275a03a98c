// Operations on pairs of elements.
#include "layers/tensorflow/vocabulary.h"

namespace assay::tensorflow {
namespace {

constexpr Renamed kRenamed[] = {
    {"Add", "Add"}, {"AddV2", "Add"},   {"AddN", "Sum"},    {"AccumulateNV2", "Sum"},
    {"Div", "Div"}, {"Maximum", "Max"}, {"Minimum", "Min"}, {"Mul", "Mul"},
    {"Pow", "Pow"}, {"RealDiv", "Div"}, {"Sub", "Sub"},     {"TruncateDiv", "Div"},
};

void renamed(Builder& b) {
  b.output(0, b(std::string(standard_name(kRenamed, b.site().node().op)), all_inputs(b)));
}

// Texts are joined by Add.
void add(Builder& b) {
  b.output(0, b(type_of(b) == ElementType::string ? "StringConcat" : "Add", all_inputs(b)));
}

// The standard sums floats alone.
void add_all(Builder& b) {
  if (is_real(type_of(b))) return b.output(0, b("Sum", all_inputs(b)));
  std::string sum = b.input(0);
  for (std::size_t i = 1; i < b.site().input_count(); ++i) sum = b("Add", {sum, b.input(i)});
  b.output(0, b("Identity", {sum}));
}

// Where a division that goes towards zero leaves a remainder of the other sign than the divisor.
std::string wrong_side(Builder& b, const std::string& rest) {
  const std::string some = b("Not", {b("Equal", {rest, number(b, 0)})});
  const std::string sides =
      b("Xor", {b("Less", {rest, number(b, 0)}), b("Less", {b.input(1), number(b, 0)})});
  return b("And", {some, sides});
}

void floor_div(Builder& b) {
  if (is_real(type_of(b))) return b.output(0, b("Floor", {b("Div", {b.input(0), b.input(1)})}));
  const std::string rest = b("Mod", {b.input(0), b.input(1)});
  b.output(0, b("Div", {b("Sub", {b.input(0), rest}), b.input(1)}));
}

void floor_mod(Builder& b) {
  if (!is_real(type_of(b))) return b.output(0, b("Mod", {b.input(0), b.input(1)}));
  const std::string rest = b("Mod", {b.input(0), b.input(1)}, {attribute("fmod", 1)});
  b.output(0, b("Where", {wrong_side(b, rest), b("Add", {rest, b.input(1)}), rest}));
}

void truncate_mod(Builder& b) {
  b.output(0, b("Mod", {b.input(0), b.input(1)}, {attribute("fmod", 1)}));
}

void squared_difference(Builder& b) { b.output(0, square(b, b("Sub", {b.input(0), b.input(1)}))); }

// A product or quotient that is 0 wherever `zero` holds.
std::string unless(Builder& b, const std::string& zero, const std::string& value) {
  return b("Where", {zero, number(b, 0), value});
}

// The divisor is never 0 where the quotient is taken.
void div_no_nan(Builder& b) {
  const std::string zero = b("Equal", {b.input(1), number(b, 0)});
  const std::string divisor = b("Where", {zero, number(b, 1), b.input(1)});
  b.output(0, unless(b, zero, b("Div", {b.input(0), divisor})));
}

void mul_no_nan(Builder& b) {
  const std::string zero = b("Equal", {b.input(1), number(b, 0)});
  b.output(0, unless(b, zero, b("Mul", {b.input(0), b.input(1)})));
}

void xdivy(Builder& b) {
  const std::string zero = b("Equal", {b.input(0), number(b, 0)});
  b.output(0, unless(b, zero, b("Div", {b.input(0), b.input(1)})));
}

void xlogy(Builder& b) {
  const std::string zero = b("Equal", {b.input(0), number(b, 0)});
  b.output(0, unless(b, zero, b("Mul", {b.input(0), b("Log", {b.input(1)})})));
}

void clip_by_value(Builder& b) {
  b.output(0, b("Min", {b("Max", {b.input(0), b.input(1)}), b.input(2)}));
}

}  // namespace

std::vector<Definition> arithmetic_definitions() {
  std::vector<Definition> all = {{"ClipByValue", clip_by_value},
                                 {"DivNoNan", div_no_nan},
                                 {"FloorDiv", floor_div},
                                 {"FloorMod", floor_mod},
                                 {"Mod", truncate_mod},
                                 {"MulNoNan", mul_no_nan},
                                 {"SquaredDifference", squared_difference},
                                 {"TruncateMod", truncate_mod},
                                 {"Xdivy", xdivy},
                                 {"Xlogy", xlogy}};
  for (const Renamed& row : kRenamed) {
    const bool is_sum = row.standard == "Sum", is_add = row.standard == "Add";
    all.push_back({row.op, is_sum ? add_all : is_add ? add : renamed});
  }
  return all;
}

}  // namespace assay::tensorflow

// Operations on each element by itself.
#include "layers/tensorflow/vocabulary.h"

namespace assay::tensorflow {
namespace {

constexpr Renamed kRenamed[] = {
    {"Abs", "Abs"},    {"Ceil", "Ceil"},   {"Erf", "Erf"},
    {"Exp", "Exp"},    {"Floor", "Floor"}, {"Inv", "Reciprocal"},
    {"Log", "Log"},    {"Neg", "Neg"},     {"Reciprocal", "Reciprocal"},
    {"Rint", "Round"}, {"Sign", "Sign"},   {"Sqrt", "Sqrt"},
};

void renamed(Builder& b) {
  b.output(0, b(std::string(standard_name(kRenamed, b.site().node().op)), {b.input(0)}));
}

void expm1(Builder& b) { b.output(0, b("Sub", {b("Exp", {b.input(0)}), number(b, 1)})); }

void log1p(Builder& b) { b.output(0, b("Log", {b("Add", {b.input(0), number(b, 1)})})); }

void erfc(Builder& b) { b.output(0, b("Sub", {number(b, 1), b("Erf", {b.input(0)})})); }

// Halves go to the even neighbour; whole numbers stay.
void round(Builder& b) { b.output(0, b(is_real(type_of(b)) ? "Round" : "Identity", {b.input(0)})); }

void rsqrt(Builder& b) { b.output(0, b("Reciprocal", {b("Sqrt", {b.input(0)})})); }

void square_of(Builder& b) { b.output(0, square(b, b.input(0))); }

void cast_to(Builder& b) { b.output(0, to_type(b, b.input(0), "DstT")); }

}  // namespace

std::vector<Definition> unary_definitions() {
  std::vector<Definition> all = {{"Cast", cast_to},    {"Erfc", erfc},   {"Expm1", expm1},
                                 {"Log1p", log1p},     {"Round", round}, {"Rsqrt", rsqrt},
                                 {"Square", square_of}};
  for (const Renamed& row : kRenamed) all.push_back({row.op, renamed});
  return all;
}

}  // namespace assay::tensorflow

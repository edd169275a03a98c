// Comparisons, truth values, bits.
#include "layers/tensorflow/vocabulary.h"

namespace assay::tensorflow {
namespace {

constexpr Renamed kRenamed[] = {
    {"BitwiseAnd", "BitwiseAnd"}, {"BitwiseOr", "BitwiseOr"},
    {"BitwiseXor", "BitwiseXor"}, {"Equal", "Equal"},
    {"Greater", "Greater"},       {"GreaterEqual", "GreaterOrEqual"},
    {"Invert", "BitwiseNot"},     {"IsInf", "IsInf"},
    {"IsNan", "IsNaN"},           {"Less", "Less"},
    {"LessEqual", "LessOrEqual"}, {"LogicalAnd", "And"},
    {"LogicalNot", "Not"},        {"LogicalOr", "Or"},
};

void renamed(Builder& b) {
  b.output(0, b(std::string(standard_name(kRenamed, b.site().node().op)), all_inputs(b)));
}

void not_equal(Builder& b) { b.output(0, b("Not", {b("Equal", {b.input(0), b.input(1)})})); }

void is_finite(Builder& b) {
  b.output(0, b("Not", {b("Or", {b("IsInf", {b.input(0)}), b("IsNaN", {b.input(0)})})}));
}

void approximate_equal(Builder& b) {
  const double tolerance = b.site().real("tolerance", static_cast<double>(1e-5F));
  const std::string distance = b("Abs", {b("Sub", {b.input(0), b.input(1)})});
  b.output(0, b("Less", {distance, number(b, tolerance)}));
}

}  // namespace

std::vector<Definition> logic_definitions() {
  std::vector<Definition> all = {
      {"ApproximateEqual", approximate_equal}, {"IsFinite", is_finite}, {"NotEqual", not_equal}};
  for (const Renamed& row : kRenamed) all.push_back({row.op, renamed});
  return all;
}

}  // namespace assay::tensorflow

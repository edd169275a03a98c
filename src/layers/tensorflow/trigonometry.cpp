// Angles, and their hyperbolic kin: the standard has them all under the same names.
#include "layers/tensorflow/vocabulary.h"

namespace assay::tensorflow {
namespace {

constexpr std::string_view kSame[] = {"Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh",
                                      "Cos",  "Cosh",  "Sin",  "Sinh",  "Tan"};

void same(Builder& b) { b.output(0, b(b.site().node().op, {b.input(0)})); }

}  // namespace

std::vector<Definition> trigonometry_definitions() {
  std::vector<Definition> all;
  for (const auto op : kSame) all.push_back({op, same});
  return all;
}

}  // namespace assay::tensorflow

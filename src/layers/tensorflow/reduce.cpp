// Reductions over axes, running sums, the place of the largest element.
#include "layers/tensorflow/vocabulary.h"

namespace assay::tensorflow {
namespace {

constexpr Renamed kRenamed[] = {{"EuclideanNorm", "ReduceL2"}, {"Max", "ReduceMax"},
                                {"Mean", "ReduceMean"},        {"Min", "ReduceMin"},
                                {"Prod", "ReduceProd"},        {"Sum", "ReduceSum"}};

Builder::Attributes as_kept(const Builder& b) {
  return {attribute("keepdims", b.site().integer("keep_dims")),
          attribute("noop_with_empty_axes", 1)};
}

// No axis at all leaves the value as it is.
void reduce(Builder& b) {
  const std::string op(standard_name(kRenamed, b.site().node().op));
  b.output(0, b(op, {b.input(0), flat_indices(b, 1)}, as_kept(b)));
}

void reduce_truth(Builder& b) {
  const char* op = b.site().node().op == "All" ? "ReduceMin" : "ReduceMax";
  const std::string as_number = cast(b, b.input(0), ElementType::u8);
  b.output(0, cast(b, b(op, {as_number, flat_indices(b, 1)}, as_kept(b)), ElementType::boolean));
}

// The first of equal ones.
void arg_extreme(Builder& b) {
  const std::int64_t axis = needed_integer(b, 1, "its axis");
  const std::string found =
      b(b.site().node().op, {b.input(0)}, {attribute("axis", axis), attribute("keepdims", 0)});
  const bool wide = b.site().integer("output_type", static_cast<int>(ElementType::i64)) ==
                    static_cast<int>(ElementType::i64);
  b.output(0, wide ? found : to_type(b, found, "output_type"));
}

void cumsum(Builder& b) {
  b.output(0, b("CumSum", {b.input(0), indices(b, 1)},
                {attribute("exclusive", b.site().integer("exclusive")),
                 attribute("reverse", b.site().integer("reverse"))}));
}

void l2_loss(Builder& b) {
  const std::string sum = b("ReduceSumSquare", {b.input(0)}, {attribute("keepdims", 0)});
  b.output(0, b("Div", {sum, number(b, 2)}));
}

}  // namespace

std::vector<Definition> reduce_definitions() {
  std::vector<Definition> all = {{"All", reduce_truth},   {"Any", reduce_truth},
                                 {"ArgMax", arg_extreme}, {"ArgMin", arg_extreme},
                                 {"Cumsum", cumsum},      {"L2Loss", l2_loss}};
  for (const Renamed& row : kRenamed) all.push_back({row.op, reduce});
  return all;
}

}  // namespace assay::tensorflow

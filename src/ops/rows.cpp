// Operators that normalise rows: the elements along one axis depend on each other.
#include "ops/families.h"
#include "patterns/rows.h"

namespace assay {
namespace {

// From version 13 on a row runs along `axis`; before, along `axis` and all axes behind it.
std::vector<std::int64_t> softmax_axes(const Call& call) {
  const std::int64_t rank = call.input(0).tensor().rank();
  const std::int64_t axis = *normalize_axis(call.site.integer("axis"), std::max<std::int64_t>(rank, 1));
  if (rank == 0) return {};
  if (call.site.version() >= 13) return {axis};
  std::vector<std::int64_t> axes;
  for (std::int64_t d = axis; d < rank; ++d) axes.push_back(d);
  return axes;
}

struct Softmax {
  template <class S>
  void operator()(std::span<const S> x, std::span<S> y) const {
    if (x.empty()) return;
    const S top = maximum(x);
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = exp(x[i] - top);
    const S total = sum(std::span<const S>(y));
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = within(y[i] / total, 0, 1);
  }
};

void require_axis(Check& c) { c.axis("axis", "input"); }

// Frameworks that took softmax along the last axis whatever `axis` said below version 13.
void along_last_axis(Builder& b) { b.output(0, b("Softmax", {b.input(0)}, {attribute("axis", -1)})); }

Operator softmax() {
  return {.name = "Softmax",
          .versions = {1, 11, 13},
          .summary = "exp(x) divided by its sum along the row.",
          .attributes = {{"axis", Role::axis}},
          .require = require_axis,
          .infer = same_as_first,
          .meaning = rowwise<Softmax, softmax_axes>(),
          .variants = {{"along-last-axis", Variant::Kind::difference,
                        "converters that read opset 13's axis into older files", along_last_axis}}};
}

}  // namespace

std::vector<Operator> rows_operators() { return {softmax()}; }

}  // namespace assay

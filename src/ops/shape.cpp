// Operators that rearrange elements and leave them as they are.
#include "ops/families.h"
#include "patterns/move.h"

namespace assay {
namespace {

std::vector<std::int64_t> permutation(const Site& site, std::size_t rank) {
  std::vector<std::int64_t> perm = site.integers("perm");
  if (!site.has("perm"))
    for (std::size_t d = 0; d < rank; ++d) perm.push_back(static_cast<std::int64_t>(rank - 1 - d));
  return perm;
}

std::vector<Movement> transpose_movement(const Call& call) {
  const Shape& x = call.input(0).shape();
  const std::vector<std::int64_t> strides = strides_of(x);
  Region region;
  region.extents = call.output_shape(0);
  region.to_strides = strides_of(region.extents);
  for (std::int64_t axis : permutation(call.site, x.size()))
    region.from_strides.push_back(strides[static_cast<std::size_t>(axis)]);
  return {{{region}, {}}};
}

Operator transpose() {
  return {.name = "Transpose",
          .versions = {1, 13, 21, 23, 24, 25},
          .summary = "The axes in another order.",
          .attributes = {{"perm", Role::permutation}},
          .require =
              [](Check& c) {
                const auto rank = c.rank_of("data");
                if (!rank) return c.undecided("axis-range", "the rank of data");
                if (c.length("perm", *rank)) c.axes("perm", "data");
              },
          .infer =
              [](Infer& n) {
                const Dims* x = n.dims(0);
                if (!x) return n.output(0, n.element(0));
                Dims y;
                for (std::int64_t axis : permutation(n.site, x->size()))
                  y.push_back((*x)[static_cast<std::size_t>(*normalize_axis(axis, static_cast<std::int64_t>(x->size())))]);
                n.output(0, n.element(0), y);
              },
          .meaning = move(transpose_movement)};
}

}  // namespace

std::vector<Operator> shape_operators() { return {transpose()}; }

}  // namespace assay

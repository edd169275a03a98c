// Layers that move elements and leave them what they are.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "layers/keras/body.h"
#include "layers/keras/layers.h"

namespace assay::keras {
namespace {

// How many elements there are behind the batch; unknown if an extent is.
Dim elements(const Site& site) {
  const Dims* dims = site.dims(0);
  if (!dims) return {};
  Dim total = 1;
  for (std::size_t d = 1; d < dims->size(); ++d) total = total * (*dims)[d];
  return total;
}

void require_reshape(Check& c) {
  const Integers target = c.site.integers("target_shape");
  const auto open = std::ranges::count(target, -1);
  const bool sizes = std::ranges::all_of(target, [](std::int64_t n) { return n > 0 || n == -1; });
  const auto text = [&] { return fmt::format("[{}]", fmt::join(target, ",")); };
  if (!sizes || open > 1) {
    c.argument(false, "target_shape", "extents, at most one of them −1", text());
    return;
  }
  if (!c.rank("x", at_least(1))) return;
  const Dim total = elements(c.site);
  if (!total.known()) return;
  std::int64_t wanted = 1;
  for (std::int64_t n : target) wanted *= n == -1 ? 1 : n;
  const bool fits = open == 1 ? total.value % wanted == 0 : total.value == wanted;
  if (fits) return;
  c.shape(false, "target_shape", fmt::format("a target_shape of {} elements", total.value), text());
}

std::string reshape(Body& l) {
  Integers shape = l.site.integers("target_shape");
  shape.insert(shape.begin(), 0);
  return l.reshaped(l.x, std::move(shape));
}

// Channels come last in what is flattened, whatever data_format says.
std::string flatten(Body& l) {
  const bool turned = !channels_last(l.site) && l.rank() > 2;
  const std::string x = turned ? l.transposed(l.x, front_to_last(l.rank() - 2)) : l.x;
  return l.reshaped(x, l.rank() == 1 ? Integers{-1, 1} : Integers{0, -1});
}

void require_permute(Check& c) {
  const Integers dims = c.site.integers("dims");
  Integers sorted = dims, all(dims.size());
  std::ranges::sort(sorted);
  std::iota(all.begin(), all.end(), 1);
  c.argument(sorted == all, "dims", "each axis behind the batch once, from 1 on",
             fmt::format("[{}]", fmt::join(dims, ",")));
  c.rank("x", exactly(static_cast<std::int64_t>(dims.size()) + 1));
}

std::string permute(Body& l) {
  Integers perm = l.site.integers("dims");
  perm.insert(perm.begin(), 0);
  return l.transposed(l.x, std::move(perm));
}

std::string repeat_vector(Body& l) {
  const std::string rows = l("Unsqueeze", {l.x, l.b.integers({1})});
  return l("Tile", {rows, l.b.integers({1, l.site.integer("n"), 1})});
}

}  // namespace

std::vector<Layer> shape_layers() {
  return {
      {.name = "Reshape",
       .summary = "The same elements in another shape behind the batch.",
       .arguments = {{"target_shape", Role::sizes}},
       .require = require_reshape,
       .build = reshape},
      {.name = "Flatten",
       .summary = "All elements behind the batch in one row.",
       .arguments = {data_format()},
       .require = [](Check& c) { c.rank("x", at_least(1)); },
       .build = flatten},
      {.name = "Permute",
       .summary = "The axes behind the batch in another order.",
       .arguments = {{"dims", Role::permutation}},
       .require = require_permute,
       .build = permute},
      {.name = "RepeatVector",
       .summary = "Each row n times along a new axis behind the batch.",
       .arguments = {count("n")},
       .require = [](Check& c) { c.positive({"n"}), c.rank("x", exactly(2)); },
       .build = repeat_vector},
  };
}

}  // namespace assay::keras

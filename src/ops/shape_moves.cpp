#include "ops/shape_moves.h"

#include <algorithm>

#include <fmt/format.h>

#include "ops/shape_numbers.h"
#include "patterns/move.h"

namespace assay {
namespace {

// Below version 4 the table has no default of the axis, but the text says 1.
std::size_t concat_axis(const Site& site, std::size_t rank) {
  return axis_of(site, "axis", rank, 1);
}

// Nothing if the ranks are not known.
std::optional<Dims> concat_dims(const Site& site) {
  const Dims* first = site.dims(0);
  if (!first || !find_axis(site, "axis", first->size(), 1)) return std::nullopt;
  const std::size_t axis = concat_axis(site, first->size());
  Dims result = *first;
  for (std::size_t i = 1; i < site.input_count(); ++i) {
    const Dims* x = site.dims(i);
    if (!x || x->size() != result.size()) {
      result[axis] = Dim();
      continue;
    }
    for (std::size_t d = 0; d < result.size(); ++d) {
      if (d == axis)
        result[d] = result[d].known() || i == 1 ? result[d] + (*x)[d] : Dim();
      else if (!result[d].known() && ((*x)[d].known() || result[d].symbol.empty()))
        result[d] = (*x)[d];
    }
  }
  return result;
}

bool require_joinable(Check& c, std::size_t i, const Dims& first, std::size_t axis) {
  const Dims* x = c.site.dims(i);
  if (!x) {
    c.undecided("same-rank", fmt::format("the rank of input {}", i));
    return false;
  }
  if (x->size() != first.size())
    return c.that(false, "Inconsistent Input Dimensions", "same-rank",
                  fmt::format("rank {}", first.size()), fmt::format("rank {}", x->size()),
                  kRankBadness,
                  fmt::format("Concat needs inputs of one rank, but has shapes {} and {}",
                              to_text(first), to_text(*x)));
  for (std::size_t d = 0; d < first.size(); ++d) {
    if (d == axis || first[d].same_as((*x)[d])) continue;
    if (!first[d].differs_from((*x)[d])) {
      c.undecided("same-shape", fmt::format("extent {} of input {}", d, i));
      continue;
    }
    return c.that(false, "Inconsistent Input Shapes", "same-shape", to_text(first), to_text(*x),
                  kShapeBadness,
                  fmt::format("Concat along axis {} cannot join the shapes {} and {}", axis,
                              to_text(first), to_text(*x)));
  }
  return true;
}

void require_concat(Check& c) {
  for (std::size_t i = 0; i < c.site.input_count(); ++i)
    if (!c.site.has_input(i)) {
      c.argument(false, "inputs", "every input of the list", fmt::format("none at place {}", i));
      return;
    }
  if (!require_axis(c, "inputs", 1)) return;
  const Dims& first = *c.site.dims(0);
  const std::size_t axis = concat_axis(c.site, first.size());
  bool known = to_shape(first).has_value();
  for (std::size_t i = 1; i < c.site.input_count(); ++i) {
    if (!require_joinable(c, i, first, axis)) return;
    known = known && to_shape(*c.site.dims(i));
  }
  const Dims result = *concat_dims(c.site);
  if (known && !to_shape(result)) c.shape(false, "size", "an extent below 2^63", "a larger sum");
  sensible_size(c, result);
}

void infer_concat(Infer& n) {
  ValueType result = ValueType::tensor(n.element(0));
  result.dims = concat_dims(n.site);
  n.output(0, std::move(result));
}

// The movement of an operator with one output.
std::vector<Movement> only(Movement movement) {
  std::vector<Movement> all;
  all.push_back(std::move(movement));
  return all;
}

std::vector<Movement> concat_movement(const Call& call) {
  const Shape result = call.output_shape(0);
  const std::size_t axis = concat_axis(call.site, result.size());
  const std::int64_t total = element_count(result);
  std::int64_t inner = 1, outer = 1;
  for (std::size_t d = 0; d < result.size(); ++d) (d < axis ? outer : inner) *= result[d];
  Movement movement;
  movement.complete = true;
  std::int64_t to = 0;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const std::int64_t count = call.input(i).tensor().size();
    if (count == 0) continue;
    if (count == total) return only(whole(i));
    const std::int64_t run = count / outer;
    movement.regions.push_back({i, {outer, run}, 0, to, {run, 1}, {inner, 1}});
    to += run;
  }
  return only(std::move(movement));
}

Operator concat() {
  return {.name = "Concat",
          .versions = {1, 4, 11, 13},
          .summary = "Tensors one behind the other along an axis.",
          .attributes = {{"axis", Role::axis}},
          .require = require_concat,
          .infer = infer_concat,
          .meaning = move(concat_movement)};
}

void require_expand(Check& c) {
  if (!c.rank("shape", exactly(1))) return;
  const Dims* x = c.dims("input");
  const Numbers shape = numbers(c.site, "", 1);
  if (!x || !shape.values) return c.undecided("broadcast", "input's rank and shape's elements");
  Dims target;
  for (std::int64_t value : *shape.values) {
    if (value < 0) {
      c.argument(false, "extent-range", "extents of 0 or more", fmt::format("{}", value));
      return;
    }
    target.emplace_back(value);
  }
  for (std::size_t d = 1; d <= std::min(x->size(), target.size()); ++d) {
    const Dim &p = (*x)[x->size() - d], &q = target[target.size() - d];
    if (p.differs_from(q) && p.value != 1 && q.value != 1) {
      c.that(false, "Inconsistent Input Shapes", "broadcast", to_text(target), to_text(*x),
             kShapeBadness,
             fmt::format("Expand cannot broadcast {} with {}", to_text(*x), to_text(target)));
      return;
    }
  }
  sensible_size(c, broadcast_dims(*x, target));
}

void infer_expand(Infer& n) {
  const Dims* x = n.dims(0);
  const auto target = dims_from_input(n.site, 1);
  if (!x || !target) return n.output(0, n.element(0));
  n.output(0, n.element(0), broadcast_dims(*x, *target));
}

std::vector<Movement> expand_movement(const Call& call) {
  call.exact(1);
  const Shape &x = call.input(0).shape(), y = call.output_shape(0);
  if (element_count(x) == element_count(y)) return {whole(0)};
  return {{{{0, y, 0, 0, broadcast_strides(x, y), strides_of(y)}}, {}, true}};
}

Operator expand() {
  return {
      .name = "Expand",
      .versions = {8, 13},
      .summary = "The input repeated along axes of extent 1, as broadcasting with `shape` says.",
      .attributes = {},
      .require = require_expand,
      .infer = infer_expand,
      .meaning = move(expand_movement)};
}

// The parts of a split: sizes, absent if they are not known.
std::optional<Dims> split_sizes(const Site& site, const Dim& extent) {
  const Numbers given = numbers(site, "split", 1);
  const std::size_t count = site.output_count();
  if (given.given) {
    if (given.values) return to_dims(*given.values);
    return std::nullopt;
  }
  if (!extent.known() || count == 0) return std::nullopt;
  const auto parts = static_cast<std::int64_t>(count);
  const std::int64_t part = extent.value / parts + (extent.value % parts == 0 ? 0 : 1);
  Dims sizes(count, Dim(part));
  sizes.back() = Dim(extent.value - part * (parts - 1));
  return sizes;
}

bool require_parts(Check& c) {
  const auto outputs = static_cast<std::int64_t>(c.site.output_count());
  if (outputs == 0) return c.argument(false, "parts", "an output", "none");
  if (c.site.version() < 18) return true;
  const bool by_count = c.site.has("num_outputs");
  if (by_count == c.site.has_input(1))
    return c.argument(false, "parts", "either split or num_outputs", by_count ? "both" : "neither");
  const std::int64_t parts = c.site.integer("num_outputs", outputs);
  return parts == outputs || c.argument(false, "parts", fmt::format("num_outputs of {}", outputs),
                                        fmt::format("{}", parts));
}

void require_even_split(Check& c, const Dim& extent) {
  if (!extent.known()) return c.undecided("divisible", "the extent that is split");
  const auto parts = static_cast<std::int64_t>(c.site.output_count());
  if (c.site.version() < 18) {
    c.divisible(extent, parts, "the extent that is split");
  } else {
    const std::int64_t last = split_sizes(c.site, extent)->back().value;
    if (extent.value > 0 && last < 0)
      c.argument(false, "parts", fmt::format("{} parts of an extent of {}", parts, extent.value),
                 fmt::format("a last part of {}", last));
  }
}

void require_split(Check& c) {
  if (!require_parts(c) || !require_axis(c, "input")) return;
  if (c.site.has_input(1) && !c.rank("split", exactly(1))) return;
  const Dims& x = *c.dims("input");
  const Dim& extent = x[axis_of(c.site, "axis", x.size())];
  const Numbers given = numbers(c.site, "split", 1);
  if (!given.given) return require_even_split(c, extent);
  if (!given.values) return c.undecided("parts", "the elements of split");
  if (given.values->size() != c.site.output_count()) {
    c.argument(false, "parts", fmt::format("{} sizes in split", c.site.output_count()),
               fmt::format("{}", given.values->size()));
    return;
  }
  std::int64_t sum = 0;
  for (std::int64_t part : *given.values)
    if (part < 0 || __builtin_add_overflow(sum, part, &sum)) {
      c.argument(false, "part-range", "sizes of 0 or more", fmt::format("{}", part));
      return;
    }
  if (!extent.known()) return c.undecided("sum", "the extent that is split");
  if (sum != extent.value)
    c.argument(false, "sum", fmt::format("sizes that sum to {}", extent.value),
               fmt::format("{}", sum));
}

void infer_split(Infer& n) {
  const Dims* x = n.dims(0);
  const auto found = x ? find_axis(n.site, "axis", x->size()) : std::nullopt;
  if (!found) {
    for (std::size_t i = 0; i < n.outputs.size(); ++i) n.output(i, n.element(0));
    return;
  }
  const std::size_t axis = *found;
  const auto sizes = split_sizes(n.site, (*x)[axis]);
  for (std::size_t i = 0; i < n.outputs.size(); ++i) {
    Dims y = *x;
    y[axis] = sizes && i < sizes->size() ? (*sizes)[i] : Dim();
    n.output(i, n.element(0), std::move(y));
  }
}

std::vector<Movement> split_movement(const Call& call) {
  exact_numbers(call, "split", 1);
  const Shape& x = call.input(0).shape();
  const std::size_t axis = axis_of(call.site, "axis", x.size());
  std::int64_t inner = 1, outer = 1;
  for (std::size_t d = 0; d < x.size(); ++d) (d < axis ? outer : inner) *= x[d];
  const std::int64_t step = x[axis] == 0 ? 0 : inner / x[axis];
  std::vector<Movement> movements;
  std::int64_t from = 0;
  for (std::size_t i = 0; i < call.types.size(); ++i) {
    const std::int64_t part = call.output_shape(i)[axis];
    const std::int64_t run = part * step;
    movements.push_back(
        part == x[axis] ? whole(0)
                        : Movement{{{0, {outer, run}, from, 0, {inner, 1}, {run, 1}}}, {}, true});
    from += run;
  }
  return movements;
}

// numpy.array_split and torch.tensor_split give the first parts one more, where the standard makes
// the last part smaller.
void remainder_comes_first(Builder& b) {
  const Dims* x = b.site().dims(0);
  const auto parts = static_cast<std::int64_t>(b.site().output_count());
  const std::int64_t extent = (*x)[axis_of(b.site(), "axis", x->size())].value;
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = 0; i < parts; ++i)
    sizes.push_back(extent / parts + (i < extent % parts ? 1 : 0));
  if (b.has(1)) sizes = numbers(b.site(), "", 1).values.value_or(sizes);
  const auto outputs = b.many("Split", {b.input(0), b.integers(sizes)}, sizes.size(),
                              {attribute("axis", b.site().integer("axis"))});
  for (std::size_t i = 0; i < outputs.size(); ++i) b.output(i, outputs[i]);
}

Operator split() {
  return {
      .name = "Split",
      .versions = {1, 2, 11, 13, 18},
      .summary = "The parts of a tensor along an axis, of equal or given sizes.",
      .attributes = {{"axis", Role::axis}, {"num_outputs", Role::count}, {"split", Role::sizes}},
      .require = require_split,
      .infer = infer_split,
      .meaning = move(split_movement),
      .variants = {{"remainder-comes-first", Variant::Kind::difference,
                    "numpy.array_split, torch.tensor_split", remainder_comes_first}}};
}

// How often the input is repeated along each of its axes. Version 1 names one axis.
std::optional<Dims> tile_repeats(const Site& site, std::size_t rank) {
  if (site.version() >= 6) return dims_from_input(site, 1);
  const Numbers tiles = numbers(site, "", 1), axis = numbers(site, "", 2);
  if (!tiles.values || !axis.values || tiles.values->size() != 1 || axis.values->size() != 1)
    return std::nullopt;
  const auto place = normalized(*axis.values, rank);
  if (place.empty()) return std::nullopt;
  Dims repeats(rank, Dim(1));
  repeats[place[0]] = Dim((*tiles.values)[0]);
  return repeats;
}

bool require_first_tile(Check& c, std::int64_t rank) {
  for (const char* input : {"tiles", "axis"})
    if (!c.element_count_is(input, 1)) return false;
  const Numbers axis = numbers(c.site, "", 2);
  return !axis.values || c.axes("axis", *axis.values, rank);
}

void require_tile(Check& c) {
  const Dims* x = c.dims("input");
  if (!x) return c.undecided("length", "the rank of input");
  const auto rank = static_cast<std::int64_t>(x->size());
  if (c.site.version() < 6 ? !require_first_tile(c, rank)
                           : !c.rank("repeats", exactly(1)) ||
                                 !c.extent("repeats", 0, rank, "the rank of the input"))
    return;
  const Numbers repeats = numbers(c.site, "", 1);
  if (!repeats.values) return c.undecided("repeat-range", "the numbers of repeats");
  for (std::int64_t repeat : *repeats.values)
    if (repeat < 0) {
      c.argument(false, "repeat-range", "0 repeats or more", fmt::format("{}", repeat));
      return;
    }
  const auto counts = tile_repeats(c.site, x->size());
  if (!counts) return;
  Dims y;
  for (std::size_t d = 0; d < x->size(); ++d) y.push_back((*x)[d] * (*counts)[d]);
  if (to_shape(*x) && !to_shape(y)) c.shape(false, "size", "extents below 2^63", "larger ones");
  sensible_size(c, y);
}

void infer_tile(Infer& n) {
  const Dims* x = n.dims(0);
  if (!x) return n.output(0, n.element(0));
  const auto repeats = tile_repeats(n.site, x->size());
  Dims y(x->size());
  for (std::size_t d = 0; repeats && d < y.size() && d < repeats->size(); ++d)
    y[d] = (*x)[d] * (*repeats)[d];
  n.output(0, n.element(0), std::move(y));
}

std::vector<Movement> tile_movement(const Call& call) {
  for (std::size_t i = 1; i < call.inputs.size(); ++i) call.exact(i);
  const Shape &x = call.input(0).shape(), y = call.output_shape(0);
  if (x == y) return {whole(0)};
  const Shape from = strides_of(x), to = strides_of(y);
  Region region;
  for (std::size_t d = 0; d < x.size() && element_count(y) > 0; ++d) {
    region.extents.insert(region.extents.end(), {y[d] / x[d], x[d]});
    region.from_strides.insert(region.from_strides.end(), {0, from[d]});
    region.to_strides.insert(region.to_strides.end(), {to[d] * x[d], to[d]});
  }
  if (region.extents.empty()) return {{}};
  return {{{region}, {}, true}};
}

Operator tile() {
  return {.name = "Tile",
          .versions = {1, 6, 13},
          .summary = "The input repeated `repeats` times along each axis.",
          .attributes = {},
          .require = require_tile,
          .infer = infer_tile,
          .meaning = move(tile_movement)};
}

std::vector<std::int64_t> permutation(const Site& site, std::size_t rank) {
  if (site.has("perm")) return site.integers("perm");
  std::vector<std::int64_t> perm;
  for (std::size_t d = rank; d-- > 0;) perm.push_back(static_cast<std::int64_t>(d));
  return perm;
}

// Unlike other lists of axes, a permutation has no negative ones.
void require_transpose(Check& c) {
  if (!c.site.has("perm")) return;
  const auto rank = c.rank_of("data");
  if (!rank) return c.undecided("axis-range", "the rank of data");
  const std::vector<std::int64_t>& perm = c.site.integers("perm");
  if (static_cast<std::int64_t>(perm.size()) != *rank) {
    c.length("perm", *rank);
    return;
  }
  for (std::int64_t axis : perm)
    if (axis < 0 || axis >= *rank) {
      c.axis("perm", axis, between(0, *rank - 1));
      return;
    }
  c.axes("perm", perm, *rank);
}

void infer_transpose(Infer& n) {
  const Dims* x = n.dims(0);
  if (!x) return n.output(0, n.element(0));
  Dims y;
  for (std::int64_t axis : permutation(n.site, x->size()))
    y.push_back((*x)[static_cast<std::size_t>(axis)]);
  n.output(0, n.element(0), std::move(y));
}

std::vector<Movement> transpose_movement(const Call& call) {
  const Shape& x = call.input(0).shape();
  const Shape strides = strides_of(x);
  Region region;
  region.extents = call.output_shape(0);
  region.to_strides = strides_of(region.extents);
  // Where only axes of extent 1 move, the elements stay where they are.
  bool still = true;
  std::int64_t last = -1;
  for (std::int64_t axis : permutation(call.site, x.size())) {
    const auto d = static_cast<std::size_t>(axis);
    region.from_strides.push_back(strides[d]);
    if (x[d] == 1) continue;
    still = still && axis > last;
    last = axis;
  }
  if (still) return only(whole(0));
  Movement movement;
  movement.regions.push_back(std::move(region));
  movement.complete = true;
  return only(std::move(movement));
}

Operator transpose() {
  return {.name = "Transpose",
          .versions = {1, 13, 21, 23, 24, 25},
          .summary = "The axes in another order.",
          .attributes = {{"perm", Role::permutation}},
          .require = require_transpose,
          .infer = infer_transpose,
          .meaning = move(transpose_movement)};
}

}  // namespace

std::vector<Operator> shape_move_operators() {
  std::vector<Operator> all = {concat(), expand(), split(), tile(), transpose()};
  for (Operator& entry : shape_slice_operators()) all.push_back(std::move(entry));
  return all;
}

}  // namespace assay

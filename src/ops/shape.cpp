// Operators that give the same elements another shape, or say what shape there is.
#include <algorithm>

#include <fmt/format.h>

#include "ops/families.h"
#include "ops/shape_moves.h"
#include "ops/shape_numbers.h"
#include "patterns/move.h"

namespace assay {
namespace {

// A number of the new shape: known (0 and -1 as they stand), or an extent by name or unknown.
struct Target {
  bool literal;
  Dim dim;
};

std::optional<std::vector<Target>> reshape_targets(const Site& site) {
  const Numbers shape = numbers(site, "shape", 1);
  std::vector<Target> targets;
  if (shape.values) {
    for (std::int64_t value : *shape.values) targets.push_back({true, Dim(value)});
    return targets;
  }
  const auto extents = site.extents(1);
  if (!extents) return std::nullopt;
  for (const Dim& dim : *extents) targets.push_back({dim.known(), dim});
  return targets;
}

bool copies_extent(const Site& site, const Target& target) {
  return target.literal && target.dim.value == 0 && site.integer("allowzero") == 0;
}

// What is left of the factors of `x` after those of `y` are taken away, if that is one extent.
Dim quotient(const Dims& x, const Dims& y) {
  std::int64_t number = 1, divisor = 1;
  std::vector<Symbol> names;
  for (const Dim& dim : x) {
    if (!dim.known() && dim.symbol.empty()) return {};
    if (!dim.known()) names.push_back(dim.symbol.base());
    const std::int64_t factor = dim.known() ? dim.value : dim.symbol.factor();
    if (__builtin_mul_overflow(number, factor, &number)) return {};
  }
  for (const Dim& dim : y) {
    const std::int64_t factor = dim.known() ? dim.value : dim.symbol.factor();
    if (__builtin_mul_overflow(divisor, factor, &divisor)) return {};
    if (dim.known()) continue;
    const auto place = std::find(names.begin(), names.end(), dim.symbol.base());
    if (dim.symbol.empty() || place == names.end()) return {};
    names.erase(place);
  }
  if (divisor <= 0 || number % divisor != 0) return {};
  if (names.empty()) return {number / divisor};
  return names.size() == 1 ? Dim::named(names.front().times(number / divisor)) : Dim();
}

// The new extents. One that is asked to be inferred follows from the others, and so does a single
// unknown one, since the number of elements stays.
Dims reshaped_dims(const Site& site, const std::vector<Target>& targets) {
  const Dims* x = site.dims(0);
  Dims result, left = x ? *x : Dims{}, others;
  std::vector<bool> copied(left.size(), false);
  std::vector<std::size_t> open;
  for (std::size_t d = 0; d < targets.size(); ++d) {
    const Target& target = targets[d];
    if (copies_extent(site, target)) {
      result.push_back(x && d < x->size() ? (*x)[d] : Dim());
      if (d < copied.size()) copied[d] = true;
      continue;
    }
    const bool unknown = !target.dim.known() && target.dim.symbol.empty();
    if (unknown) open.push_back(d);
    result.push_back(unknown ? Dim() : target.dim);
    if (!unknown) others.push_back(target.dim);
  }
  if (!x || open.size() != 1) return result;
  Dims remaining;
  for (std::size_t d = 0; d < left.size(); ++d)
    if (!copied[d]) remaining.push_back(left[d]);
  result[open[0]] = quotient(remaining, others);
  return result;
}

bool require_targets(Check& c, const std::vector<Target>& targets, const Dims* x) {
  int inferred = 0;
  bool zero = false, known = true;
  for (std::size_t d = 0; d < targets.size(); ++d) {
    if (!targets[d].literal) {
      known = false;
      continue;
    }
    const std::int64_t value = targets[d].dim.value;
    if (value < -1)
      return c.argument(false, "extent-range", "extents of -1 or more", fmt::format("{}", value));
    inferred += value == -1 ? 1 : 0;
    zero = zero || value == 0;
    if (x && copies_extent(c.site, targets[d]) && d >= x->size())
      return c.argument(false, "zero-copies", fmt::format("0 only below place {}", x->size()),
                        fmt::format("0 at place {}", d));
  }
  if (inferred > 1) return c.argument(false, "one-inferred", "at most one -1", "more");
  if (inferred == 1 && zero && c.site.integer("allowzero") != 0)
    return c.argument(false, "allowzero", "no -1 beside a 0 that is meant", "both");
  return known;
}

void require_reshape(Check& c) {
  if (c.site.version() < 5 ? !c.required("shape") : !c.rank("shape", exactly(1))) return;
  const auto targets = reshape_targets(c.site);
  const Dims* x = c.dims("data");
  if (!targets || !require_targets(c, *targets, x)) {
    if (c.violations.empty()) c.undecided("element-count", "the elements of shape");
    return;
  }
  const auto from = x ? to_shape(*x) : std::nullopt;
  if (!from) return c.undecided("element-count", "the shape of data");
  Shape to;
  bool inferred = false;
  for (std::size_t d = 0; d < targets->size(); ++d) {
    const std::int64_t value = (*targets)[d].dim.value;
    inferred = inferred || value == -1;
    if (value != -1) to.push_back(copies_extent(c.site, (*targets)[d]) ? (*from)[d] : value);
  }
  const auto count = checked_element_count(*from), given = checked_element_count(to);
  const bool fits =
      count && given && (inferred ? *given > 0 && *count % *given == 0 : *count == *given);
  if (!fits)
    c.shape(false, "element-count", fmt::format("a shape for the elements of {}", to_text(*x)),
            fmt::format("{}", to_text(to)) + (inferred ? " and -1" : ""));
}

void infer_reshape(Infer& n) {
  const auto targets = reshape_targets(n.site);
  if (!targets) return n.output(0, n.element(0));
  n.output(0, n.element(0), reshaped_dims(n.site, *targets));
}

// numpy and the frameworks built like it take a 0 for what it says.
void zero_is_literal(Builder& b) {
  b.output(0, b("Reshape", {b.input(0), b.input(1)}, {attribute("allowzero", 1)}));
}

void allowzero_is_ignored(Builder& b) {
  b.output(0, b("Reshape", {b.input(0), b.input(1)}, {attribute("allowzero", 0)}));
}

Operator reshape_operator() {
  return {
      .name = "Reshape",
      .versions = {1, 5, 13, 14, 19, 21, 23, 24, 25},
      .summary = "The same elements in another shape; 0 keeps an extent, -1 is inferred.",
      .attributes = {{"allowzero", Role::flag},
                     {"consumed_inputs", Role::number},
                     {"shape", Role::sizes}},
      .require = require_reshape,
      .infer = infer_reshape,
      .meaning = reshape(),
      .variants = {
          {"zero-is-literal", Variant::Kind::difference,
           "numpy, TensorFlow and PyTorch: an extent of 0 is an extent of 0", zero_is_literal},
          {"allowzero-is-ignored", Variant::Kind::defect,
           "runtimes that read newer files with the rule of version 13", allowzero_is_ignored}}};
}

// An axis is counted from the end since version 11; the versions before say 0 to the rank.
std::int64_t first_flatten_axis(const Site& site, std::int64_t rank) {
  return site.version() < 11 ? 0 : -rank;
}

std::optional<std::size_t> flatten_axis(const Site& site, std::size_t rank) {
  const std::int64_t axis = site.integer("axis"), r = static_cast<std::int64_t>(rank);
  if (axis < first_flatten_axis(site, r) || axis > r) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + r : axis);
}

void require_flatten(Check& c) {
  const auto rank = c.rank_of("input");
  if (!rank) return c.undecided("axis-range", "the rank of input");
  if (!flatten_axis(c.site, static_cast<std::size_t>(*rank)))
    c.axis("axis", c.site.integer("axis"), between(first_flatten_axis(c.site, *rank), *rank));
}

void infer_flatten(Infer& n) {
  const Dims* x = n.dims(0);
  const auto axis = x ? flatten_axis(n.site, x->size()) : std::nullopt;
  if (!axis) return n.output(0, n.element(0), {Dim(), Dim()});
  n.output(0, n.element(0), {product(*x, 0, *axis), product(*x, *axis, x->size())});
}

Operator flatten() {
  return {.name = "Flatten",
          .versions = {1, 9, 11, 13, 21, 23, 24, 25},
          .summary = "A matrix: the axes before `axis` become rows, the others columns.",
          .attributes = {{"axis", Role::axis}},
          .require = require_flatten,
          .infer = infer_flatten,
          .meaning = reshape()};
}

bool require_axes(Check& c, const Numbers& axes, const std::optional<std::int64_t>& rank,
                  std::string_view needs) {
  if (c.site.has_input(1) && !c.rank("axes", at_most(1))) return false;
  if (axes.values && rank) return c.axes("axes", *axes.values, *rank);
  c.undecided("axis-range", std::string(axes.values ? needs : "the elements of axes"));
  return false;
}

void require_squeeze(Check& c) {
  const Numbers axes = numbers(c.site, "axes", 1);
  if (!axes.given || !require_axes(c, axes, c.rank_of("data"), "the rank of data")) return;
  const Dims& x = *c.dims("data");
  for (std::size_t d : normalized(*axes.values, x.size()))
    c.extent("data", static_cast<std::int64_t>(d), 1, "an axis that is taken away");
}

void infer_squeeze(Infer& n) {
  const Dims* x = n.dims(0);
  const Numbers axes = numbers(n.site, "axes", 1);
  if (!x || (axes.given && !axes.values)) return n.output(0, n.element(0));
  std::vector<bool> gone(x->size(), false);
  if (axes.given) {
    for (std::size_t d : normalized(*axes.values, x->size())) gone[d] = true;
  } else {
    for (std::size_t d = 0; d < x->size(); ++d) {
      if (!(*x)[d].known()) return n.output(0, n.element(0));
      gone[d] = (*x)[d].value == 1;
    }
  }
  Dims y;
  for (std::size_t d = 0; d < x->size(); ++d)
    if (!gone[d]) y.push_back((*x)[d]);
  n.output(0, n.element(0), y);
}

// An empty list of axes names none; ONNX Runtime reads it as no list at all.
void empty_axes_mean_all(Builder& b) {
  const Numbers axes = numbers(b.site(), "axes", 1);
  const bool empty = axes.values && axes.values->empty();
  b.output(0, empty ? b("Squeeze", {b.input(0)}) : b.again().front());
}

Operator squeeze() {
  return {.name = "Squeeze",
          .versions = {1, 11, 13, 21, 23, 24, 25},
          .summary = "Without the axes of extent 1 that `axes` names, or without all of them.",
          .attributes = {{"axes", Role::axes}},
          .require = require_squeeze,
          .infer = infer_squeeze,
          .meaning = reshape(),
          .variants = {{"empty-axes-mean-all", Variant::Kind::difference, "ONNX Runtime 1.31",
                        empty_axes_mean_all}}};
}

void require_unsqueeze(Check& c) {
  const Numbers axes = numbers(c.site, "axes", 1);
  auto rank = c.rank_of("data");
  if (rank && axes.values) *rank += static_cast<std::int64_t>(axes.values->size());
  require_axes(c, axes, rank, "the rank of data");
}

void infer_unsqueeze(Infer& n) {
  const Dims* x = n.dims(0);
  const Numbers axes = numbers(n.site, "axes", 1);
  const Dims* count = n.dims(1);
  if (!x) return n.output(0, n.element(0));
  if (!axes.values) {
    if (!count || count->size() != 1 || !count->front().known() || count->front().value > 64)
      return n.output(0, n.element(0));
    return n.output(0, n.element(0),
                    Dims(x->size() + static_cast<std::size_t>(count->front().value)));
  }
  const std::size_t rank = x->size() + axes.values->size();
  std::vector<bool> fresh(rank, false);
  for (std::size_t d : normalized(*axes.values, rank)) fresh[d] = true;
  Dims y;
  for (std::size_t d = 0, next = 0; d < rank && (fresh[d] || next < x->size()); ++d)
    y.push_back(fresh[d] ? Dim(1) : (*x)[next++]);
  n.output(0, n.element(0), y);
}

Operator unsqueeze() {
  return {.name = "Unsqueeze",
          .versions = {1, 11, 13, 21, 23, 24, 25},
          .summary = "With new axes of extent 1 at the places of the output that `axes` names.",
          .attributes = {{"axes", Role::axes}},
          .require = require_unsqueeze,
          .infer = infer_unsqueeze,
          .meaning = reshape()};
}

Operator identity() {
  return {.name = "Identity",
          .versions = {1, 13, 14, 16, 19, 21, 23, 24, 25},
          .summary = "The value as it is: a tensor, a sequence or an optional.",
          .attributes = {},
          .infer = same_as_first,
          .meaning = custom(Pattern::move, [](Call& call) { call.outputs[0] = call.input(0); })};
}

// The axes of `data` that Shape tells about: clamped, as the standard says, never out of range.
Dims told_extents(const Site& site, const Dims& x) {
  const auto rank = static_cast<std::int64_t>(x.size());
  const auto place = [&](std::int64_t axis) {
    return std::clamp<std::int64_t>(axis < 0 ? std::max(axis, -rank) + rank : axis, 0, rank);
  };
  const std::int64_t start = place(site.integer("start", 0));
  const std::int64_t end = place(site.integer("end", rank));
  if (start >= end) return {};
  return {x.begin() + start, x.begin() + end};
}

Operator shape() {
  return {.name = "Shape",
          .versions = {1, 13, 15, 19, 21, 23, 24, 25},
          .summary = "The extents of a tensor, from axis `start` up to axis `end`.",
          .attributes = {{"end", Role::axis}, {"start", Role::axis}},
          .infer =
              [](Infer& n) {
                const Dims* x = n.dims(0);
                if (!x) return n.output(0, ElementType::i64, {Dim()});
                Dims told = told_extents(n.site, *x);
                n.output(0, ElementType::i64, {Dim(static_cast<std::int64_t>(told.size()))});
                n.known_elements(0, std::move(told));
              },
          .meaning = custom(Pattern::generate, [](Call& call) {
            call.outputs[0] =
                make_vector(*to_shape(told_extents(call.site, to_dims(call.input(0).shape()))));
          })};
}

Operator size() {
  return {.name = "Size",
          .versions = {1, 13, 19, 21, 23, 24, 25},
          .summary = "The number of elements.",
          .attributes = {},
          .infer =
              [](Infer& n) {
                n.output(0, ElementType::i64, Dims{});
                if (const Dims* x = n.dims(0)) n.known_elements(0, {product(*x, 0, x->size())});
              },
          .meaning = custom(Pattern::generate, [](Call& call) {
            const std::int64_t count = call.input(0).tensor().size();
            call.outputs[0] = make_integers(ElementType::i64, {}, {&count, 1});
          })};
}

}  // namespace

std::vector<Operator> shape_operators() {
  std::vector<Operator> all = {flatten(), identity(), reshape_operator(), shape(),
                               size(),    squeeze(),  unsqueeze()};
  for (Operator& entry : shape_move_operators()) all.push_back(std::move(entry));
  return all;
}

}  // namespace assay

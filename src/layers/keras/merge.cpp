// Layers that merge several inputs into one.
#include <algorithm>
#include <bit>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "layers/keras/body.h"
#include "layers/keras/layers.h"
#include "ops/infer.h"

namespace assay::keras {
namespace {

// Masks, if there are any, come behind the inputs; argument masked has a bit for each that has one.
std::size_t inputs_of(const Site& site) {
  const auto masks = std::popcount(static_cast<std::uint64_t>(site.integer("masked")));
  return site.input_count() - std::min(site.input_count(), static_cast<std::size_t>(masks));
}

std::string shapes_text(const Site& site) {
  std::vector<std::string> shapes;
  for (std::size_t i = 0; i < inputs_of(site); ++i) {
    shapes.push_back(site.dims(i) ? to_text(*site.dims(i)) : "?");
  }
  return fmt::format("{}", fmt::join(shapes, " and "));
}

std::int64_t largest_rank(const Site& site) {
  std::int64_t most = 0;
  for (std::size_t i = 0; i < inputs_of(site); ++i) most = std::max(most, *site.rank(i));
  return most;
}

// An input of a lower rank gets axes of one element behind the batch.
Dims padded(const Site& site, std::size_t i, std::int64_t rank) {
  Dims dims = *site.dims(i);
  if (!dims.empty()) {
    dims.insert(dims.begin() + 1, static_cast<std::size_t>(rank) - dims.size(), Dim(1));
  }
  return dims;
}

bool ranks_known(Check& c) {
  for (std::size_t i = 0; i < inputs_of(c.site); ++i) {
    if (c.site.rank(i)) continue;
    c.undecided("rank", fmt::format("the rank of input {}", i));
    return false;
  }
  return true;
}

void refuse_inputs(Check& c, std::string_view rule, bool same_rank, std::string_view needs) {
  const std::string shapes = shapes_text(c.site);
  double distance = 0;
  for (std::size_t i = 1; i < inputs_of(c.site); ++i) {
    distance += shape_distance(*c.site.dims(0), *c.site.dims(i));
  }
  c.that(false, same_rank ? "Inconsistent Input Shapes" : "Inconsistent Input Dimensions", rule,
         std::string(needs), shapes, distance * (same_rank ? kShapeBadness : kRankBadness),
         fmt::format("{} needs {}, but they have the shapes {}", c.site.node().op, needs, shapes));
}

bool is_one(const Dim& dim) { return dim.known() && dim.value == 1; }

void require_broadcast(Check& c) {
  const std::size_t count = inputs_of(c.site);
  if (count < 2) c.argument(false, "inputs", "at least 2 inputs", fmt::format("{}", count));
  if (!ranks_known(c)) return;
  const std::int64_t rank = largest_rank(c.site);
  bool same_rank = true;
  Dims all(static_cast<std::size_t>(rank), Dim(1));
  for (std::size_t i = 0; i < count; ++i) {
    same_rank = same_rank && *c.site.rank(i) == rank;
    const Dims dims = padded(c.site, i, rank);
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (!is_one(all[d]) && !is_one(dims[d]) && all[d].differs_from(dims[d])) {
        return refuse_inputs(c, "broadcast", same_rank, "inputs that broadcast");
      }
      if (is_one(all[d])) all[d] = dims[d];
    }
  }
}

void require_two(Check& c) {
  const std::size_t count = inputs_of(c.site);
  if (count == 2) return require_broadcast(c);
  c.argument(false, "inputs", "2 inputs", fmt::format("{}", count));
}

Names aligned(Body& l) {
  const std::int64_t rank = largest_rank(l.site);
  Names inputs;
  for (std::size_t i = 0; i < inputs_of(l.site); ++i) {
    std::string input = l.input(i);
    Integers axes;
    for (std::int64_t d = *l.site.rank(i); d < rank; ++d) axes.push_back(rank - d);
    inputs.push_back(axes.empty() ? input : l("Unsqueeze", {input, l.b.integers(axes)}));
  }
  return inputs;
}

// An operator of the standard that takes any number of inputs.
template <const char* op>
std::string variadic(Body& l) {
  return l(op, aligned(l));
}

template <const char* op>
std::string folded(Body& l) {
  const Names inputs = aligned(l);
  std::string y = inputs.front();
  for (std::size_t i = 1; i < inputs.size(); ++i) y = l(op, {y, inputs[i]});
  return y;
}

// The mask of an input, with an axis for what a step has.
std::string mask_of(Body& l, std::size_t input) {
  const auto given = static_cast<std::uint64_t>(l.site.integer("masked"));
  if ((given >> input & 1) == 0) return "";
  const auto before = static_cast<std::size_t>(std::popcount(given & ((1ULL << input) - 1)));
  const std::string mask = l("Cast", {l.input(inputs_of(l.site) + before)},
                             {attribute("to", static_cast<std::int64_t>(ElementType::boolean))});
  return l("Unsqueeze", {mask, l.b.integers({-1})});
}

// A factor that does not count is one; where all are masked and none counts, the product is zero.
std::string product(Body& l) {
  Names inputs = aligned(l);
  std::string y, any;
  bool all = true;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string mask = mask_of(l, i);
    const std::string x = mask.empty() ? inputs[i] : l("Where", {mask, inputs[i], l.number(1)});
    y = y.empty() ? x : l("Mul", {y, x});
    if (!mask.empty()) any = any.empty() ? mask : l("Or", {any, mask});
    all = all && !mask.empty();
  }
  return all ? l("Where", {any, y, l.number(0)}) : y;
}

// What does not count gives way to what came before, and that to what comes behind.
template <const char* op>
std::string extreme(Body& l) {
  const Names inputs = aligned(l);
  std::string y = inputs.front(), counts = mask_of(l, 0);
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    const std::string mask = mask_of(l, i);
    const std::string x = mask.empty() ? inputs[i] : l("Where", {mask, inputs[i], y});
    if (!counts.empty()) y = l("Where", {counts, y, x});
    counts = mask.empty() || counts.empty() ? "" : l("Or", {counts, mask});
    y = l(op, {y, x});
  }
  return y;
}

void require_concatenate(Check& c) {
  const std::size_t count = inputs_of(c.site);
  if (!ranks_known(c)) return;
  const std::int64_t rank = *c.site.rank(0);
  if (!c.axis("axis", c.site.integer("axis"), between(-rank, rank - 1))) return;
  const auto axis = static_cast<std::size_t>(*normalize_axis(c.site.integer("axis"), rank));
  for (std::size_t i = 1; i < count; ++i) {
    const bool same_rank = *c.site.rank(i) == rank;
    bool fits = same_rank;
    for (std::size_t d = 0; fits && d < c.site.dims(0)->size(); ++d) {
      fits = d == axis || !(*c.site.dims(0))[d].differs_from((*c.site.dims(i))[d]);
    }
    if (!fits) {
      return refuse_inputs(c, "same-shape", same_rank,
                           fmt::format("inputs of one shape but for axis {}", axis));
    }
  }
}

// The contracted axis of both inputs; one number stands for both.
std::pair<std::int64_t, std::int64_t> dot_axes(const Site& site) {
  const Integers axes = site.integers("axes");
  const auto place = [&](std::size_t i) {
    const std::int64_t axis = axes.size() == 1 ? axes[0] : axes[i];
    return axis < 0 ? axis + *site.rank(i) : axis;
  };
  return {place(0), place(1)};
}

void require_dot(Check& c) {
  const std::size_t count = inputs_of(c.site), given = c.site.integers("axes").size();
  if (!c.argument(count == 2, "inputs", "2 inputs", fmt::format("{}", count)) ||
      !c.argument(given == 1 || given == 2, "axes", "one or two axes", fmt::format("{}", given)) ||
      !ranks_known(c)) {
    return;
  }
  const auto [a, b] = dot_axes(c.site);
  const bool inside = a >= 1 && a < *c.site.rank(0) && b >= 1 && b < *c.site.rank(1);
  const bool fits = inside && !extent(c.site, a, 0).differs_from(extent(c.site, b, 1));
  if (fits) return;
  c.that(false, "Dot Axis Error", "axes", "axes of one extent behind the batch",
         fmt::format("axes {} and {} of {}", a, b, shapes_text(c.site)), kShapeBadness,
         fmt::format("Dot needs axes of one extent behind the batch, but axes {} and {} of the "
                     "shapes {} are not",
                     a, b, shapes_text(c.site)));
}

std::string unit_length(Body& l, const std::string& x, std::int64_t axis) {
  return l("LpNormalization", {x}, {attribute("axis", axis)});
}

// The batch is "a"; the second input's axes have letters of their own but for the shared one.
std::string dot(Body& l) {
  const auto [first, second] = dot_axes(l.site);
  std::string x = l.input(0), y = l.input(1);
  if (flag(l.site, "normalize")) {
    x = unit_length(l, x, first);
    y = unit_length(l, y, second);
  }
  std::string left = "a", right = "a", result = "a";
  for (std::int64_t d = 1; d < *l.site.rank(0); ++d) {
    left += d == first ? 'z' : static_cast<char>('a' + d);
    if (d != first) result += left.back();
  }
  for (std::int64_t d = 1; d < *l.site.rank(1); ++d) {
    right += d == second ? 'z' : static_cast<char>('m' + d);
    if (d != second) result += right.back();
  }
  const std::string products =
      l("Einsum", {x, y}, {attribute("equation", left + "," + right + "->" + result)});
  return result == "a" ? l("Unsqueeze", {products, l.b.integers({1})}) : products;
}

constexpr char kSum[] = "Sum", kMean[] = "Mean", kMax[] = "Max", kMin[] = "Min", kSub[] = "Sub";

Layer merge(std::string_view name, std::string_view summary, std::string (*build)(Body&),
            std::vector<Argument> arguments = {}) {
  return {.name = name,
          .summary = summary,
          .arguments = std::move(arguments),
          .require = require_broadcast,
          .build = build,
          .inputs = {"inputs"},
          .masks = Masks::merge};
}

}  // namespace

std::vector<Layer> merge_layers() {
  return {
      merge("Add", "The sum of all inputs.", variadic<kSum>),
      merge("Average", "The mean of all inputs.", variadic<kMean>),
      merge("Maximum", "The largest of all inputs.", extreme<kMax>, {masked()}),
      merge("Minimum", "The smallest of all inputs.", extreme<kMin>, {masked()}),
      merge("Multiply", "The product of all inputs.", product, {masked()}),
      {.name = "Subtract",
       .summary = "The first input minus the second.",
       .require = require_two,
       .build = folded<kSub>,
       .inputs = {"inputs"},
       .masks = Masks::merge},
      {.name = "Concatenate",
       .summary = "All inputs, one behind the other along an axis.",
       .arguments = {{"axis", Role::axis, std::int64_t{-1}}},
       .require = require_concatenate,
       .build =
           [](Body& l) {
             Names inputs;
             for (std::size_t i = 0; i < inputs_of(l.site); ++i) inputs.push_back(l.input(i));
             return l("Concat", inputs, {attribute("axis", l.site.integer("axis"))});
           },
       .inputs = {"inputs"},
       .masks = Masks::merge},
      {.name = "Dot",
       .summary = "Products of two inputs of a batch, summed along an axis of each.",
       .arguments = {{"axes", Role::axes}, flag_argument("normalize", false)},
       .require = require_dot,
       .build = dot,
       .inputs = {"inputs"}},
  };
}

}  // namespace assay::keras

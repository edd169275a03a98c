#include "ops/check.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/names.h"
#include "ops/infer.h"

namespace assay {
namespace {

std::string to_text(Limits limits) {
  const bool lower = limits.least != std::numeric_limits<std::int64_t>::min();
  const bool upper = limits.most != std::numeric_limits<std::int64_t>::max();
  if (lower && upper && limits.least == limits.most) return fmt::format("{}", limits.least);
  if (lower && upper) return fmt::format("{} to {}", limits.least, limits.most);
  if (lower) return fmt::format("at least {}", limits.least);
  return fmt::format("at most {}", limits.most);
}

double distance(std::int64_t value, Limits limits) {
  if (value < limits.least) return static_cast<double>(limits.least) - static_cast<double>(value);
  if (value > limits.most) return static_cast<double>(value) - static_cast<double>(limits.most);
  return 0;
}

std::string dim_text(const Dim& dim) { return to_text(Dims{dim}); }

}  // namespace

std::string Check::id(std::string_view rule) const {
  return fmt::format("{}.{}", site.node().op, rule);
}

std::optional<std::size_t> Check::index_of(std::string_view input) const {
  for (std::size_t i = 0; i < schema_.inputs.size(); ++i)
    if (schema_.inputs[i].name == input) return site.has_input(i) ? std::optional(i) : std::nullopt;
  ASSAY_CHECK(!"the entry names an input that the standard has not");
  return std::nullopt;
}

const Dims* Check::dims(std::string_view input) const {
  const auto i = index_of(input);
  return i ? site.dims(*i) : nullptr;
}

std::optional<std::int64_t> Check::rank_of(std::string_view input) const {
  const Dims* known = dims(input);
  if (!known) return std::nullopt;
  return static_cast<std::int64_t>(known->size());
}

bool Check::that(bool holds, std::string_view kind, std::string_view rule, std::string expected,
                 std::string found, double badness, std::string message) {
  if (holds) return true;
  violations.push_back({std::string(kind), id(rule), one_line(std::move(expected)),
                        one_line(std::move(found)), badness, one_line(std::move(message))});
  return false;
}

bool Check::argument(bool holds, std::string_view rule, std::string expected, std::string found) {
  if (holds) return true;
  std::string message = fmt::format("{}: expected {}, found {}", site.node().op, expected, found);
  return that(false, "Argument Error", rule, std::move(expected), std::move(found),
              kArgumentBadness, std::move(message));
}

bool Check::shape(bool holds, std::string_view rule, std::string expected, std::string found) {
  if (holds) return true;
  std::string message = fmt::format("{}: expected {}, found {}", site.node().op, expected, found);
  return that(false, "Shape Error", rule, std::move(expected), std::move(found), kShapeBadness,
              std::move(message));
}

void Check::undecided(std::string_view rule, std::string needs) {
  open.push_back({id(rule), std::move(needs)});
}

bool Check::rank(std::string_view input, Limits limits) {
  if (!index_of(input)) return true;
  const auto rank = rank_of(input);
  if (!rank) {
    undecided("rank", fmt::format("the rank of {}", input));
    return false;
  }
  const double off = distance(*rank, limits);
  if (off == 0) return true;
  return that(false, "Dimension Error", "rank", fmt::format("rank {}", to_text(limits)),
              fmt::format("rank {}", *rank), kRankBadness * off,
              fmt::format("{} needs {} of rank {}, but it has rank {} (shape {})", site.node().op,
                          input, to_text(limits), *rank, assay::to_text(*dims(input))));
}

bool Check::same_rank(std::string_view a, std::string_view b) {
  if (!index_of(a) || !index_of(b)) return true;
  const auto x = rank_of(a), y = rank_of(b);
  if (!x || !y) {
    undecided("same-rank", fmt::format("the ranks of {} and {}", a, b));
    return false;
  }
  if (*x == *y) return true;
  return that(
      false, "Inconsistent Input Dimensions", "same-rank", fmt::format("rank {}", *x),
      fmt::format("rank {}", *y), kRankBadness * std::abs(static_cast<double>(*x - *y)),
      fmt::format("{} needs {} and {} of one rank, but they have shapes {} and {}", site.node().op,
                  a, b, assay::to_text(*dims(a)), assay::to_text(*dims(b))));
}

bool Check::same_shape(std::string_view a, std::string_view b) {
  if (!index_of(a) || !index_of(b)) return true;
  if (!same_rank(a, b)) return false;
  const Dims &x = *dims(a), &y = *dims(b);
  bool certain = true;
  for (std::size_t d = 0; d < x.size(); ++d) {
    if (x[d].differs_from(y[d]))
      return that(false, "Inconsistent Input Shapes", "same-shape", assay::to_text(x),
                  assay::to_text(y), kShapeBadness,
                  fmt::format("{} needs {} and {} of one shape, but they have shapes {} and {}",
                              site.node().op, a, b, assay::to_text(x), assay::to_text(y)));
    certain = certain && x[d].same_as(y[d]);
  }
  if (!certain) undecided("same-shape", fmt::format("the shapes of {} and {}", a, b));
  return certain;
}

bool Check::broadcastable() {
  Dims all;
  bool certain = true;
  for (std::size_t i = 0; i < site.input_count(); ++i) {
    if (!site.has_input(i)) continue;
    const Dims* known = site.dims(i);
    if (!known) {
      undecided("broadcast", fmt::format("the rank of input {}", i));
      return false;
    }
    for (std::size_t d = 1; d <= std::min(all.size(), known->size()); ++d) {
      const Dim &x = all[all.size() - d], &y = (*known)[known->size() - d];
      if (x.differs_from(y) && !(x.known() && x.value == 1) && !(y.known() && y.value == 1))
        if (x.known() && y.known())
          return that(false, "Inconsistent Input Shapes", "broadcast", assay::to_text(all),
                      assay::to_text(*known), kShapeBadness,
                      fmt::format("{} cannot broadcast the shapes {} and {}", site.node().op,
                                  assay::to_text(all), assay::to_text(*known)));
      certain =
          certain && (x.same_as(y) || (x.known() && x.value == 1) || (y.known() && y.value == 1));
    }
    all = broadcast_dims(all, *known);
  }
  if (!certain) undecided("broadcast", "the extents of the inputs");
  return certain;
}

bool Check::broadcastable(std::string_view a, std::string_view b) {
  if (!index_of(a) || !index_of(b)) return true;
  const Dims *x = dims(a), *y = dims(b);
  if (!x || !y) {
    undecided("broadcast", fmt::format("the ranks of {} and {}", a, b));
    return false;
  }
  bool certain = true;
  for (std::size_t d = 1; d <= std::min(x->size(), y->size()); ++d) {
    const Dim &p = (*x)[x->size() - d], &q = (*y)[y->size() - d];
    const bool one = (p.known() && p.value == 1) || (q.known() && q.value == 1);
    if (p.known() && q.known() && p.value != q.value && !one)
      return that(false, "Inconsistent Input Shapes", "broadcast", assay::to_text(*x),
                  assay::to_text(*y), kShapeBadness,
                  fmt::format("{} cannot broadcast {} of shape {} and {} of shape {}",
                              site.node().op, a, assay::to_text(*x), b, assay::to_text(*y)));
    certain = certain && (one || p.same_as(q));
  }
  if (!certain) undecided("broadcast", fmt::format("the extents of {} and {}", a, b));
  return certain;
}

bool Check::broadcasts_to(std::string_view small, std::string_view large) {
  if (!index_of(small) || !index_of(large)) return true;
  const Dims *x = dims(small), *y = dims(large);
  if (!x || !y) {
    undecided("broadcasts-to", fmt::format("the ranks of {} and {}", small, large));
    return false;
  }
  bool fits = x->size() <= y->size(), certain = true;
  for (std::size_t d = 1; fits && d <= x->size(); ++d) {
    const Dim &p = (*x)[x->size() - d], &q = (*y)[y->size() - d];
    const bool one = p.known() && p.value == 1;
    fits = one || !p.known() || !p.differs_from(q);
    certain = certain && (one || p.same_as(q));
  }
  if (fits && !certain) {
    undecided("broadcasts-to", fmt::format("the extents of {} and {}", small, large));
    return false;
  }
  return that(fits, "Inconsistent Input Shapes", "broadcasts-to", assay::to_text(*y),
              assay::to_text(*x), kShapeBadness,
              fmt::format("{} needs {} to broadcast to the shape {} of {}, but it has shape {}",
                          site.node().op, small, assay::to_text(*y), large, assay::to_text(*x)));
}

namespace {
bool check_extent(Check& c, std::string_view kind, std::string_view rule, std::string_view input,
                  std::int64_t axis, const Dim& expected, std::string_view what) {
  if (!c.index_of(input)) return true;
  const Dims* dims = c.dims(input);
  const auto at =
      dims ? normalize_axis(axis, static_cast<std::int64_t>(dims->size())) : std::nullopt;
  if (!at) {
    if (!dims) c.undecided(rule, fmt::format("the rank of {}", input));
    return false;
  }
  const Dim& found = (*dims)[static_cast<std::size_t>(*at)];
  if (found.same_as(expected)) return true;
  if (!found.known() || !expected.known()) {
    c.undecided(rule, fmt::format("extent {} of {}", *at, input));
    return false;
  }
  return c.that(false, kind, rule, dim_text(expected), dim_text(found),
                kShapeBadness * std::abs(static_cast<double>(found.value - expected.value)),
                fmt::format("{} needs extent {} of {} to be {} ({}), but it has shape {}",
                            c.site.node().op, *at, input, expected.value, what, to_text(*dims)));
}
}  // namespace

bool Check::extent(std::string_view input, std::int64_t axis, const Dim& expected,
                   std::string_view what) {
  return check_extent(*this, "Shape Error", "extent", input, axis, expected, what);
}

bool Check::weight_extent(std::string_view input, std::int64_t axis, const Dim& expected,
                          std::string_view what) {
  return check_extent(*this, "Weight Shape Error", "weight-shape", input, axis, expected, what);
}

bool Check::element_count_is(std::string_view input, std::int64_t count) {
  if (!index_of(input)) return true;
  const Dims* known = dims(input);
  const auto shape = known ? to_shape(*known) : std::nullopt;
  if (!shape) {
    undecided("element-count", fmt::format("the shape of {}", input));
    return false;
  }
  if (checked_element_count(*shape) == count) return true;
  return this->shape(false, "element-count", fmt::format("{} elements in {}", count, input),
                     assay::to_text(*known));
}

bool Check::divisible(const Dim& number, std::int64_t divisor, std::string_view what) {
  if (divisor <= 0)
    return argument(false, "divisible", fmt::format("a positive divisor of {}", what),
                    fmt::format("{}", divisor));
  if (!number.known()) {
    undecided("divisible", std::string(what));
    return false;
  }
  if (number.value % divisor == 0) return true;
  return shape(false, "divisible", fmt::format("{} divisible by {}", what, divisor),
               fmt::format("{}", number.value));
}

bool Check::not_empty(std::string_view input) {
  if (!index_of(input)) return true;
  const Dims* known = dims(input);
  if (!known) return true;
  for (const Dim& dim : *known)
    if (dim.known() && dim.value == 0)
      return shape(false, "not-empty", fmt::format("{} with elements", input),
                   assay::to_text(*known));
  return true;
}

}  // namespace assay

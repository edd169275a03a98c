// Reductions: the elements along some axes become one.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "ops/alignment.h"
#include "ops/families.h"
#include "patterns/rows.h"

namespace assay {
namespace {

// The axes are an attribute, or from version 18 on (ReduceSum: 13) an input. None means all of them
// unless noop_with_empty_axes says none.
std::optional<std::vector<std::int64_t>> given_axes(const Site& site) {
  if (site.has("axes")) return site.integers("axes");
  if (!site.has_input(1)) return std::vector<std::int64_t>{};
  const Tensor* known = site.constant(1);
  return known ? std::optional(known->integers()) : std::nullopt;
}

std::optional<std::vector<std::int64_t>> reduced_axes(const Site& site, std::int64_t rank) {
  std::optional<std::vector<std::int64_t>> axes = given_axes(site);
  if (!axes) return std::nullopt;
  if (axes->empty() && site.integer("noop_with_empty_axes") == 0)
    for (std::int64_t d = 0; d < rank; ++d) axes->push_back(d);
  for (std::int64_t& axis : *axes) axis = axis < 0 ? axis + rank : axis;
  return axes;
}

std::vector<std::int64_t> axes_of_call(const Call& call) {
  if (call.has(1)) call.exact(1);
  return *reduced_axes(call.site, call.input(0).tensor().rank());
}

void require_axes(Check& c) {
  const auto rank = c.rank_of("data");
  const auto axes = given_axes(c.site);
  if (!rank || !axes)
    return c.undecided("axis-range", rank ? "the elements of axes" : "the rank of data");
  c.axes("axes", *axes, *rank);
}

Dims reduced_dims(const Dims& x, const std::vector<std::int64_t>& axes, bool keep) {
  Dims y;
  for (std::size_t d = 0; d < x.size(); ++d) {
    const bool gone =
        std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(d)) != axes.end();
    if (!gone) y.push_back(x[d]);
    if (gone && keep) y.emplace_back(1);
  }
  return y;
}

void infer_reduce(Infer& n) {
  const Dims* x = n.dims(0);
  const auto axes = x ? reduced_axes(n.site, static_cast<std::int64_t>(x->size())) : std::nullopt;
  const bool keep = n.site.integer("keepdims", 1) != 0;
  if (x && axes) return n.output(0, n.element(0), reduced_dims(*x, *axes, keep));
  if (x && keep) return n.output(0, n.element(0), Dims(x->size()));
  n.output(0, n.element(0));
}

struct Sum {
  template <class S>
  S operator()(std::span<const S> row) const {
    return sum(row);
  }
};

struct Mean {
  template <class S>
  S operator()(std::span<const S> row) const {
    return mean(row);
  }
};

struct Product {
  template <class S>
  S operator()(std::span<const S> row) const {
    return product(row);
  }
};

struct L1 {
  template <class S>
  S operator()(std::span<const S> row) const {
    return sum_of_absolutes(row);
  }
};

struct L2 {
  template <class S>
  S operator()(std::span<const S> row) const {
    return sqrt(sum_of_squares(row));
  }
};

struct SumSquare {
  template <class S>
  S operator()(std::span<const S> row) const {
    return sum_of_squares(row);
  }
};

struct LogSum {
  template <class S>
  S operator()(std::span<const S> row) const {
    return log(sum(row));
  }
};

struct LogSumExp {
  template <class S>
  S operator()(std::span<const S> row) const {
    return log_sum_exp(row);
  }
};

// An empty row gives the least number of the type: minus infinity where there is one.
struct Largest {
  ElementType type;
  explicit Largest(const Call& call) : type(call.input(0).type()) {}
  template <class S>
  S operator()(std::span<const S> row) const {
    if (!row.empty()) return maximum(row);
    if constexpr (std::is_same_v<S, std::int64_t> || std::is_same_v<S, std::uint64_t>)
      return static_cast<S>(smallest_integer(type));
    else
      return constant<S>(-std::numeric_limits<double>::infinity());
  }
};

struct Smallest {
  ElementType type;
  explicit Smallest(const Call& call) : type(call.input(0).type()) {}
  template <class S>
  S operator()(std::span<const S> row) const {
    if (!row.empty()) return minimum(row);
    if constexpr (std::is_same_v<S, std::int64_t> || std::is_same_v<S, std::uint64_t>)
      return static_cast<S>(largest_integer(type));
    else
      return constant<S>(std::numeric_limits<double>::infinity());
  }
};

// Below version 18, ONNX Runtime and converters read empty axes as "reduce nothing".
void empty_axes_reduce_nothing(Builder& b) { b.output(0, b("Identity", {b.input(0)})); }

// The unshifted formula overflows where the shifted one does not.
void exp_without_shift(Builder& b) {
  const std::vector<std::int64_t> axes =
      *reduced_axes(b.site(), static_cast<std::int64_t>(b.site().dims(0)->size()));
  const std::string total = b("ReduceSum", {b("Exp", {b.input(0)}), b.integers(axes)},
                              {attribute("keepdims", b.site().integer("keepdims", 1)),
                               attribute("noop_with_empty_axes", 1)});
  b.output(0, b("Log", {total}));
}

Operator entry(std::string_view name, std::vector<int> versions, std::string_view summary,
               Meaning meaning) {
  const bool has_input = versions.back() >= 13;
  std::vector<AttributeRole> roles = {{"axes", Role::axes}, {"keepdims", Role::flag}};
  if (has_input) roles.push_back({"noop_with_empty_axes", Role::flag});
  return {.name = name,
          .versions = std::move(versions),
          .summary = summary,
          .attributes = std::move(roles),
          .require = require_axes,
          .infer = infer_reduce,
          .meaning = std::move(meaning)};
}

// The place of the largest or smallest element; NaN counts as more extreme than all numbers.
struct Arg {
  bool largest, last;

  bool beats(double a, double b) const {
    if (a != a || b != b) return a != a && (b == b || last);
    if (a == b) return last;
    return largest ? a > b : a < b;
  }
  template <class S>
  std::size_t place(std::span<const S> row) const {
    std::size_t best = 0;
    for (std::size_t i = 1; i < row.size(); ++i)
      if (beats_exactly(row[i], row[best])) best = i;
    return best;
  }
  // Integers of 64 bits do not all fit a double.
  template <class S>
  bool beats_exactly(const S& a, const S& b) const {
    if constexpr (std::is_same_v<S, std::int64_t> || std::is_same_v<S, std::uint64_t>)
      return a == b ? last : (largest ? a > b : a < b);
    else
      return beats(to_double(a), to_double(b));
  }

  template <class S>
  S operator()(std::span<const S> row) const {
    if constexpr (std::is_same_v<S, Bounded> || std::is_same_v<S, Interval>)
      return candidates(row);
    else
      return static_cast<S>(place(row));
  }

  // Every place whose element may be the extreme one.
  template <class S>
  S candidates(std::span<const S> row) const {
    std::vector<Interval> ranges;
    for (const S& x : row) {
      if constexpr (std::is_same_v<S, Bounded>)
        ranges.push_back(enclose(x));
      else
        ranges.push_back(x);
    }
    std::size_t first = row.size(), final = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      bool possible = true;
      for (std::size_t k = 0; k < row.size() && possible; ++k) {
        const Interval &x = ranges[i], &y = ranges[k];
        if (x.nan || y.nan || k == i) continue;
        possible = largest ? x.high >= y.low : x.low <= y.high;
      }
      if (!possible) continue;
      first = std::min(first, i);
      final = i;
    }
    const auto low = static_cast<double>(first), high = static_cast<double>(final);
    if constexpr (std::is_same_v<S, Bounded>) {
      const auto chosen = static_cast<double>(exact_place(row));
      return {chosen, std::max(chosen - low, high - chosen)};
    } else {
      return {low, high, false};
    }
  }
  std::size_t exact_place(std::span<const Bounded> row) const {
    std::size_t best = 0;
    for (std::size_t i = 1; i < row.size(); ++i)
      if (beats(row[i].value, row[best].value)) best = i;
    return best;
  }
};

struct ArgLargest : Arg {
  explicit ArgLargest(const Call& call) : Arg{true, call.site.integer("select_last_index") != 0} {}
};
struct ArgSmallest : Arg {
  explicit ArgSmallest(const Call& call)
      : Arg{false, call.site.integer("select_last_index") != 0} {}
};

std::vector<std::int64_t> arg_axis(const Call& call) {
  const std::int64_t rank = call.input(0).tensor().rank();
  if (rank == 0) return {};
  return {*normalize_axis(call.site.integer("axis"), rank)};
}

void require_arg(Check& c) {
  const auto rank = c.rank_of("data");
  if (!rank) return c.undecided("axis-range", "the rank of data");
  if (!c.axis("axis", c.site.integer("axis"),
              between(-std::max<std::int64_t>(*rank, 1), std::max<std::int64_t>(*rank, 1) - 1)))
    return;
  if (*rank == 0) return;
  const Dim& extent =
      (*c.dims("data"))[static_cast<std::size_t>(*normalize_axis(c.site.integer("axis"), *rank))];
  if (extent.known())
    c.shape(extent.value > 0, "not-empty", "a row with elements", to_text(*c.dims("data")));
}

void infer_arg(Infer& n) {
  const Dims* x = n.dims(0);
  if (!x) return n.output(0, ElementType::i64);
  const auto rank = static_cast<std::int64_t>(x->size());
  std::vector<std::int64_t> axes;
  if (rank > 0) axes.push_back(*normalize_axis(n.site.integer("axis"), rank));
  n.output(0, ElementType::i64, reduced_dims(*x, axes, n.site.integer("keepdims", 1) != 0));
}

void last_of_equals(Builder& b) {
  b.output(0, b.again({attribute("select_last_index", 1)}).front());
}

Operator arg_entry(std::string_view name, std::string_view summary, Meaning meaning) {
  return {.name = name,
          .versions = {1, 11, 12, 13},
          .summary = summary,
          .attributes = {{"axis", Role::axis},
                         {"keepdims", Role::flag},
                         {"select_last_index", Role::flag}},
          .require = require_arg,
          .infer = infer_arg,
          .align = align_place_in_row,
          .meaning = std::move(meaning),
          .variants = {{"last-of-equals", Variant::Kind::difference,
                        "accelerators whose parallel reduction keeps the last of equal elements",
                        last_of_equals}}};
}

}  // namespace

std::vector<Operator> reduce_operators() {
  Operator log_sum_exp = entry("ReduceLogSumExp", {1, 11, 13, 18, 28}, "log of the sum of exp(x).",
                               reduce<LogSumExp, axes_of_call>());
  log_sum_exp.variants = {{"exp-without-shift", Variant::Kind::defect,
                           "Keras 2.3 on CNTK, and every naive implementation", exp_without_shift}};
  Operator sum = entry("ReduceSum", {1, 11, 13}, "The sum of the row.",
                       reduce<Sum, axes_of_call, RealsAndIntegers>());
  sum.variants = {{"empty-axes-reduce-nothing", Variant::Kind::difference,
                   "runtimes that always read an empty list of axes as noop_with_empty_axes=1",
                   empty_axes_reduce_nothing}};
  return {
      arg_entry("ArgMax", "The place of the largest element of the row; NaN counts as largest.",
                compute<ReduceRows<ArgLargest, arg_axis>, RealsAndIntegers>(Pattern::reduce)),
      arg_entry("ArgMin", "The place of the smallest element of the row; NaN counts as smallest.",
                compute<ReduceRows<ArgSmallest, arg_axis>, RealsAndIntegers>(Pattern::reduce)),
      entry("ReduceL1", {1, 11, 13, 18}, "The sum of magnitudes of the row.",
            reduce<L1, axes_of_call, RealsAndIntegers>()),
      entry("ReduceL2", {1, 11, 13, 18}, "The square root of the sum of squares of the row.",
            reduce<L2, axes_of_call>()),
      entry("ReduceLogSum", {1, 11, 13, 18, 28}, "log of the sum of the row.",
            reduce<LogSum, axes_of_call>()),
      log_sum_exp,
      entry("ReduceMax", {1, 11, 12, 13, 18, 20},
            "The largest element of the row; NaN if one is NaN.",
            reduce<Largest, axes_of_call, RealsAndIntegers>()),
      entry("ReduceMean", {1, 11, 13, 18}, "The mean of the row.",
            reduce<Mean, axes_of_call, RealsAndIntegers>()),
      entry("ReduceMin", {1, 11, 12, 13, 18, 20},
            "The smallest element of the row; NaN if one is NaN.",
            reduce<Smallest, axes_of_call, RealsAndIntegers>()),
      entry("ReduceProd", {1, 11, 13, 18}, "The product of the row.",
            reduce<Product, axes_of_call, RealsAndIntegers>()),
      sum,
      entry("ReduceSumSquare", {1, 11, 13, 18}, "The sum of squares of the row.",
            reduce<SumSquare, axes_of_call, RealsAndIntegers>())};
}

}  // namespace assay

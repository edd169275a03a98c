// Operators on rows: the elements along one axis depend on each other.
#include "patterns/rows.h"

#include <algorithm>
#include <limits>

#include "ops/alignment.h"
#include "ops/families.h"
#include "scalar/watch.h"

namespace assay {
namespace {

// From version 13 on a row runs along `axis`; before, along `axis` and all axes behind it.
std::vector<std::int64_t> softmax_axes(const Call& call) {
  const std::int64_t rank = call.input(0).tensor().rank();
  if (rank == 0) return {};
  const std::int64_t axis = *normalize_axis(call.site.integer("axis"), rank);
  if (call.site.version() >= 13) return {axis};
  std::vector<std::int64_t> axes;
  for (std::int64_t d = axis; d < rank; ++d) axes.push_back(d);
  return axes;
}

std::vector<std::int64_t> one_axis(const Call& call) {
  return {*normalize_axis(call.site.integer("axis"), call.input(0).tensor().rank())};
}

// No element is above the largest one, and one of them is it.
template <class S>
S shifted_exp(const S& x, const S& top) {
  constexpr double kBelow = std::numeric_limits<double>::infinity();
  return guarded<S>([&] { return exp(within(x - top, -kBelow, 0)); });
}
template <class S>
S shifted_sum(std::span<const S> terms) {
  constexpr double kAbove = std::numeric_limits<double>::infinity();
  return within(sum(terms), 1, kAbove);
}

struct Softmax {
  template <class S>
  void operator()(std::span<const S> x, std::span<S> y) const {
    const S top = maximum(x);
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = shifted_exp(x[i], top);
    const S total = shifted_sum(std::span<const S>(y));
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = within(y[i] / total, 0, 1);
  }
};

struct LogSoftmax {
  template <class S>
  void operator()(std::span<const S> x, std::span<S> y) const {
    const S top = maximum(x);
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = shifted_exp(x[i], top);
    const S total = log(shifted_sum(std::span<const S>(y)));
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = (x[i] - top) - total;
  }
};

// One at the first largest element, zero elsewhere.
struct Hardmax {
  template <class S>
  void operator()(std::span<const S> x, std::span<S> y) const {
    const S top = maximum(x);
    Condition<S> before = {};  // whether a largest element stands further left
    if constexpr (!std::is_same_v<Condition<S>, bool>) before = Truth::known(false);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Condition<S> largest = either(equal(x[i], top), is_nan(x[i]));
      y[i] = select(both(largest, negate(before)), constant<S>(1.0), zero<S>());
      before = either(before, largest);
    }
  }
};

// A row whose norm is zero stays zero.
struct LpNormalization {
  std::int64_t p;
  explicit LpNormalization(const Call& call) : p(call.site.integer("p")) {}
  template <class S>
  void operator()(std::span<const S> x, std::span<S> y) const {
    const S norm = p == 1 ? sum_of_absolutes(x) : sqrt(sum_of_squares(x));
    for (std::size_t i = 0; i < x.size(); ++i)
      y[i] = guarded<S>(
          [&] { return select(equal(norm, zero<S>()), zero<S>(), within(x[i] / norm, -1, 1)); });
  }
};

// Sums or products of the elements up to each place, along an axis that is an input.
struct Running {
  bool exclusive, reverse;
  explicit Running(const Call& call)
      : exclusive(call.site.integer("exclusive") != 0),
        reverse(call.site.integer("reverse") != 0) {}

  template <class S, class Fold>
  void run(std::span<const S> x, std::span<S> y, const Fold& fold) const {
    const std::size_t n = x.size();
    std::vector<S> ordered(x.begin(), x.end());
    if (reverse) std::reverse(ordered.begin(), ordered.end());
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t count = exclusive ? i : i + 1;
      y[reverse ? n - 1 - i : i] = fold(std::span<const S>(ordered).first(count));
    }
  }

  // Plain numbers need no bound over all orders, so one pass is enough.
  template <class S, class Step>
  void step_through(std::span<const S> x, std::span<S> y, S total, const Step& step) const {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t at = reverse ? x.size() - 1 - i : i;
      const S next = step(total, x[at]);
      y[at] = exclusive ? total : next;
      total = next;
    }
  }
};
struct RunningSum : Running {
  using Running::Running;
  template <class S>
  void operator()(std::span<const S> x, std::span<S> y) const {
    if constexpr (Plain<S>)
      step_through(x, y, S{0}, [](S a, S b) { return a + b; });
    else
      run(x, y, [](std::span<const S> part) { return sum(part); });
  }
};
struct RunningProduct : Running {
  using Running::Running;
  template <class S>
  void operator()(std::span<const S> x, std::span<S> y) const {
    if constexpr (Plain<S>)
      step_through(x, y, S{1}, [](S a, S b) { return a * b; });
    else
      run(x, y, [](std::span<const S> part) { return product(part); });
  }
};

std::vector<std::int64_t> running_axis(const Call& call) {
  return {*normalize_axis(call.exact(1).integer(0), call.input(0).tensor().rank())};
}

void require_axis(Check& c) {
  const auto rank = c.rank_of("input");
  if (!rank) return c.undecided("axis-range", "the rank of input");
  const std::int64_t most = std::max<std::int64_t>(*rank, 1);
  c.axis("axis", c.site.integer("axis"), between(-most, most - 1));
}

void require_norm(Check& c) {
  if (!c.rank("input", at_least(1))) return;
  c.axis("axis", "input");
  c.in_range("p", between(1, 2));
}

void require_running(Check& c) {
  if (!c.rank("x", at_least(1))) return;
  c.element_count_is("axis", 1);
  c.index_range("axis", *c.rank_of("x"));
}

// Converters that read opset 13's single axis into older files.
void along_last_axis(Builder& b) {
  b.output(0, b("Softmax", {b.input(0)}, {attribute("axis", -1)}));
}

void log_of_softmax(Builder& b) {
  b.output(0,
           b("Log", {b("Softmax", {b.input(0)}, {attribute("axis", b.site().integer("axis"))})}));
}

void zero_norm_is_nan(Builder& b) {
  const std::string axes = b.integers({b.site().integer("axis")});
  const char* norm = b.site().integer("p") == 1 ? "ReduceL1" : "ReduceL2";
  b.output(0, b("Div", {b.input(0), b(norm, {b.input(0), axes})}));
}

Operator row_entry(std::string_view name, std::string_view summary, Meaning meaning,
                   std::optional<Alignment> (*align)(const Call&)) {
  return {.name = name,
          .versions = {1, 11, 13},
          .summary = summary,
          .attributes = {{"axis", Role::axis}},
          .require = require_axis,
          .infer = same_as_first,
          .align = align,
          .meaning = std::move(meaning)};
}

Operator running_entry(std::string_view name, std::vector<int> versions, std::string_view summary,
                       Meaning meaning) {
  meaning.pattern = Pattern::prefix;
  return {.name = name,
          .versions = std::move(versions),
          .summary = summary,
          .attributes = {{"exclusive", Role::flag}, {"reverse", Role::flag}},
          .require = require_running,
          .infer = same_as_first,
          .align = align_running,
          .meaning = std::move(meaning)};
}

}  // namespace

std::vector<Operator> rows_operators() {
  Operator softmax = row_entry("Softmax", "exp(x) divided by its sum along the row.",
                               rowwise<Softmax, softmax_axes>(), align_countable_row);
  softmax.variants = {{"along-last-axis", Variant::Kind::difference,
                       "converters that read opset 13's axis into older files", along_last_axis}};
  Operator log_softmax =
      row_entry("LogSoftmax", "log of the softmax of the row, without underflow.",
                rowwise<LogSoftmax, softmax_axes>(), align_countable_row);
  log_softmax.variants = {{"log-of-softmax", Variant::Kind::defect,
                           "hand-written losses: minus infinity where the softmax underflows",
                           log_of_softmax}};
  Operator norm = {.name = "LpNormalization",
                   .versions = {1, 22},
                   .summary = "The row divided by its norm; zero where the norm is zero.",
                   .attributes = {{"axis", Role::axis}, {"p", Role::number}},
                   .require = require_norm,
                   .infer = same_as_first,
                   .align = align_norm_row,
                   .meaning = rowwise<LpNormalization, one_axis>(),
                   .variants = {{"zero-norm-is-nan", Variant::Kind::difference,
                                 "implementations that divide without looking", zero_norm_is_nan}}};
  return {running_entry("CumProd", {26}, "The product of the elements up to each place.",
                        rowwise<RunningProduct, running_axis, RealsAndIntegers>()),
          running_entry("CumSum", {11, 14}, "The sum of the elements up to each place.",
                        rowwise<RunningSum, running_axis, RealsAndIntegers>()),
          row_entry("Hardmax", "One at the first largest element of the row, zero elsewhere.",
                    rowwise<Hardmax, softmax_axes>(), align_ordered_row),
          log_softmax,
          norm,
          softmax};
}

}  // namespace assay

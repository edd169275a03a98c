// Operators whose result is a choice: the largest, the ones that are not zero.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "base/parallel.h"
#include "ops/families.h"
#include "ops/select_parts.h"
#include "ops/shape_numbers.h"
#include "patterns/array.h"

namespace assay {
namespace {

void require_top_k(Check& c) {
  if (c.site.version() >= 10 && !c.element_count_is("K", 1)) return;
  if (!c.rank("X", at_least(1)) || !require_axis(c, "X")) return;
  const Dims& x = *c.dims("X");
  const Dim& extent = x[axis_of(c.site, "axis", x.size())];
  const Numbers k =
      c.site.version() < 10 ? Numbers{true, {{c.site.integer("k")}}} : numbers(c.site, "", 1);
  if (!k.values) return c.undecided("k-range", "the element of K");
  const std::int64_t count = (*k.values)[0];
  if (count < 0 || (extent.known() && count > extent.value)) {
    c.argument(false, "k-range",
               extent.known() ? fmt::format("k from 0 to {}", extent.value) : "k of 0 or more",
               fmt::format("{}", count));
    return;
  }
  if (!extent.known()) c.undecided("k-range", "the extent along the axis");
}

void infer_top_k(Infer& n) {
  const Dims* x = n.dims(0);
  const auto axis = x ? find_axis(n.site, "axis", x->size()) : std::nullopt;
  if (!axis) {
    n.output(0, n.element(0));
    return n.output(1, ElementType::i64);
  }
  Dim k = n.site.version() < 10 ? Dim(n.site.integer("k")) : Dim();
  if (n.site.version() >= 10)
    if (const auto given = n.site.extents(1); given && given->size() == 1) k = given->front();
  Dims y = *x;
  y[*axis] = k;
  n.output(0, n.element(0), y);
  n.output(1, ElementType::i64, y);
}

// NaN counts as larger than every number, as in numpy and PyTorch.
template <class T>
bool below(const T& a, const T& b) {
  return a < b || (b != b && a == a);
}

// Places of the rows of a tensor along an axis: element i of row r is at start(r) + i * step.
struct AxisRows {
  std::int64_t length, step, count;
  std::int64_t start(std::int64_t row) const { return row / step * step * length + row % step; }
};

AxisRows rows_along(const Shape& shape, std::size_t axis) {
  const auto [outer, inner] = around(shape, axis);
  return {shape[axis], std::max<std::int64_t>(inner, 1), outer * inner};
}

// The first k of a row in order: places along the axis. Of equals the first comes first.
template <class T>
void select_row(const T* row, const AxisRows& rows, bool largest, std::span<std::int64_t> order,
                std::int64_t k) {
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto before = [&](std::int64_t a, std::int64_t b) {
    const T &x = row[a * rows.step], &y = row[b * rows.step];
    if (largest ? below(y, x) : below(x, y)) return true;
    if (largest ? below(x, y) : below(y, x)) return false;
    return a < b;
  };
  std::partial_sort(order.begin(), order.begin() + k, order.end(), before);
}

struct TopK {
  std::int64_t k;
  bool largest, sorted;
  AxisRows rows;

  TopK(const Call& call, std::size_t axis)
      : k(call.output_shape(0)[axis]),
        largest(call.site.integer("largest", 1) != 0),
        sorted(call.site.integer("sorted", 1) != 0),
        rows(rows_along(call.input(0).shape(), axis)) {}
  // Place i of row r in the outputs.
  std::size_t target(std::int64_t row, std::int64_t i) const {
    return static_cast<std::size_t>(row / rows.step * rows.step * k + row % rows.step +
                                    i * rows.step);
  }
};

void select_values(const Call& call, const TopK& top, Tensor& values,
                   std::span<std::int64_t> places) {
  if (top.k == 0 || values.size() == 0) return;
  visit_storage(values.type(), [&]<class T>(T*) {
    if constexpr (std::is_arithmetic_v<T>) {
      const T* x = call.input(0).tensor().data<T>().data();
      const auto out = values.mutate<T>();
      const std::int64_t grain = std::max<std::int64_t>(1, 16384 / top.rows.length);
      parallel_for(top.rows.count, grain, [&](std::int64_t begin, std::int64_t end) {
        std::vector<std::int64_t> order(static_cast<std::size_t>(top.rows.length));
        for (std::int64_t r = begin; r < end; ++r) {
          const T* row = x + top.rows.start(r);
          select_row(row, top.rows, top.largest, order, top.k);
          for (std::int64_t i = 0; i < top.k; ++i) {
            const std::int64_t place = order[static_cast<std::size_t>(i)];
            out[top.target(r, i)] = row[place * top.rows.step];
            places[top.target(r, i)] = place;
          }
        }
      });
    }
  });
}

// What may stand at each of the first k places of a row whose elements are ranges: the i-th
// largest element lies between the i-th largest lower end and the i-th largest upper end, and
// comes from an element whose range meets that.
struct RankedRow {
  std::vector<Interval> values, places;
};

RankedRow rank_ranges(const std::vector<Interval>& row, const TopK& top) {
  std::vector<double> lows, highs;
  bool nan = false;
  for (const Interval& x : row) {
    lows.push_back(x.low);
    highs.push_back(x.high);
    nan = nan || x.nan;
  }
  const auto last = static_cast<double>(row.size()) - 1;
  const auto k = static_cast<std::size_t>(top.k);
  if (nan) return {{k, Interval::everything()}, {k, Interval{0, last, false}}};
  const auto order = [&](double a, double b) { return top.largest ? a > b : a < b; };
  std::sort(lows.begin(), lows.end(), order);
  std::sort(highs.begin(), highs.end(), order);
  RankedRow result;
  for (std::size_t i = 0; i < k; ++i) {
    // Without an order, each place may hold any of the k.
    const std::size_t first = top.sorted ? i : 0, end = top.sorted ? i : k - 1;
    const Interval value{std::min(lows[first], lows[end]), std::max(highs[first], highs[end]),
                         false};
    Interval place = Interval::no_number(false);
    for (std::size_t p = 0; p < row.size(); ++p)
      if (row[p].low <= value.high && row[p].high >= value.low)
        place = hull(place, Interval::point(static_cast<double>(p)));
    result.values.push_back(value);
    result.places.push_back(place);
  }
  return result;
}

double reach(double value, const Interval& range) {
  if (range.nan || !std::isfinite(range.low) || !std::isfinite(range.high))
    return range.low == range.high && range.low == value && !range.nan
               ? 0
               : std::numeric_limits<double>::infinity();
  const double far = std::max(value - range.low, range.high - value);
  return far > 0 ? std::nextafter(far, std::numeric_limits<double>::infinity()) : 0;
}

std::vector<double> reaches(const Tensor& values, const std::vector<Interval>& ranges) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < ranges.size(); ++i)
    errors.push_back(reach(values.real(static_cast<std::int64_t>(i)), ranges[i]));
  return errors;
}

std::vector<Interval> ranges_of(const Value& x) {
  if (x.intervals()) return *x.intervals();
  std::vector<Interval> result;
  for (const Bounded& element : load<Bounded>(x).data) result.push_back(enclose(element));
  return result;
}

void widen_top_k(Call& call, const TopK& top, const Tensor& values, const Tensor& places) {
  const std::vector<Interval> x = ranges_of(call.input(0));
  const auto count = static_cast<std::size_t>(values.size());
  std::vector<Interval> value_ranges(count), place_ranges(count),
      row(static_cast<std::size_t>(top.rows.length));
  for (std::int64_t r = 0; count > 0 && r < top.rows.count; ++r) {
    for (std::size_t i = 0; i < row.size(); ++i)
      row[i] = x[static_cast<std::size_t>(top.rows.start(r)) +
                 i * static_cast<std::size_t>(top.rows.step)];
    const RankedRow ranked = rank_ranges(row, top);
    for (std::int64_t i = 0; i < top.k; ++i) {
      value_ranges[top.target(r, i)] = ranked.values[static_cast<std::size_t>(i)];
      place_ranges[top.target(r, i)] = ranked.places[static_cast<std::size_t>(i)];
    }
  }
  const Shape& shape = values.shape();
  if (call.reading == Reading::interval) {
    call.outputs[0] = Value::ranges(values.type(), shape, std::move(value_ranges));
    if (call.outputs.size() > 1)
      call.outputs[1] = Value::ranges(ElementType::i64, shape, std::move(place_ranges));
    return;
  }
  call.outputs[0] = Value::bounded(values, reaches(values, value_ranges));
  if (call.outputs.size() > 1)
    call.outputs[1] = Value::bounded(places, reaches(places, place_ranges));
}

void evaluate_top_k(Call& call) {
  if (call.has(1)) call.exact(1);
  const TopK top(call, axis_of(call.site, "axis", call.input(0).shape().size()));
  Tensor values(call.output_type(0), call.output_shape(0));
  Tensor places(ElementType::i64, call.output_shape(0));
  if (!call.input(0).intervals()) select_values(call, top, values, places.mutate<std::int64_t>());
  const bool open = call.reading != Reading::value && (!call.input(0).exact() || !top.sorted);
  if (open) return widen_top_k(call, top, values, places);
  call.outputs[0] = std::move(values);
  if (call.outputs.size() > 1) call.outputs[1] = std::move(places);
}

Operator top_k() {
  return {.name = "TopK",
          .versions = {1, 10, 11, 24},
          .summary = "The k largest or smallest elements along an axis, and where they stand.",
          .attributes = {{"axis", Role::axis},
                         {"k", Role::count},
                         {"largest", Role::flag},
                         {"sorted", Role::flag}},
          .require = require_top_k,
          .infer = infer_top_k,
          .meaning = custom(Pattern::opaque, evaluate_top_k)};
}

template <class T>
bool is_zero(const T& x) {
  if constexpr (std::is_same_v<T, std::string>)
    return x.empty();
  else
    return x == T(0);
}

// For each element whether it is zero; elements that are not exact must be surely so or surely not.
std::vector<bool> zeros(const Value& x) {
  std::vector<bool> result;
  result.reserve(static_cast<std::size_t>(x.tensor().size()));
  if (!x.exact()) {
    for (const Interval& range : ranges_of(x)) {
      const Truth zero = equal(range, Interval::point(0));
      if (!zero.is_known()) throw InexactDecision("an element may be zero");
      result.push_back(zero.may_be_true);
    }
    return result;
  }
  visit_storage(x.type(), [&]<class T>(T*) {
    for (const T& element : x.tensor().data<T>()) result.push_back(is_zero(element));
  });
  return result;
}

void evaluate_non_zero(Call& call) {
  const std::vector<bool> zero = zeros(call.input(0));
  const Shape& x = call.input(0).shape();
  const Shape strides = strides_of(x);
  const auto count = std::count(zero.begin(), zero.end(), false);
  Tensor result(ElementType::i64, {static_cast<std::int64_t>(x.size()), count});
  const auto out = result.mutate<std::int64_t>();
  std::size_t next = 0;
  for (std::size_t i = 0; i < zero.size(); ++i) {
    if (zero[i]) continue;
    auto rest = static_cast<std::int64_t>(i);
    for (std::size_t d = 0; d < x.size(); ++d) {
      out[d * static_cast<std::size_t>(count) + next] = rest / strides[d];
      rest %= strides[d];
    }
    ++next;
  }
  call.outputs[0] = std::move(result);
}

void a_row_an_element(Builder& b) { b.output(0, b("Transpose", {b("NonZero", {b.input(0)})})); }

Operator non_zero() {
  return {.name = "NonZero",
          .versions = {9, 13},
          .summary = "Where the elements stand that are not zero: a column of indices for each.",
          .attributes = {},
          .infer =
              [](Infer& n) {
                const auto rank = n.site.rank(0);
                n.output(0, ElementType::i64, {rank ? Dim(*rank) : Dim(), Dim()});
              },
          .meaning = custom(Pattern::opaque, evaluate_non_zero),
          .variants = {{"a-row-an-element", Variant::Kind::difference,
                        "torch.nonzero, tf.where, numpy.argwhere", a_row_an_element}}};
}

}  // namespace

std::vector<Operator> select_operators() {
  std::vector<Operator> all = {non_zero(), top_k()};
  for (Operator& entry : select_box_operators()) all.push_back(std::move(entry));
  for (Operator& entry : select_unique_operators()) all.push_back(std::move(entry));
  return all;
}

}  // namespace assay

// Unique.
#include <algorithm>
#include <complex>
#include <numeric>

#include "ops/select_parts.h"
#include "ops/shape_numbers.h"
#include "patterns/move.h"

namespace assay {
namespace {

// -1, 0 or 1. NaN is one value, larger than every number; complex numbers order by their real part
// first.
template <class T>
int compare(const T& a, const T& b) {
  const bool a_nan = a != a, b_nan = b != b;
  if (a_nan || b_nan) return a_nan && b_nan ? 0 : a_nan ? 1 : -1;
  return a < b ? -1 : b < a ? 1 : 0;
}
template <class T>
int compare(const std::complex<T>& a, const std::complex<T>& b) {
  const int real = compare(a.real(), b.real());
  return real != 0 ? real : compare(a.imag(), b.imag());
}

// The things that are compared: elements, or the subtensors along an axis.
struct Things {
  std::int64_t outer = 1, count = 1, inner = 1;
};

Things things_of(const Site& site, const Shape& x) {
  if (!site.has("axis")) return {1, element_count(x), 1};
  const std::size_t axis = axis_of(site, "axis", x.size());
  const auto [outer, inner] = around(x, axis);
  return {outer, x[axis], inner};
}

template <class T>
int compare_things(const T* x, const Things& t, std::int64_t a, std::int64_t b) {
  if (t.inner == 0) return 0;
  for (std::int64_t o = 0; o < t.outer; ++o)
    for (std::int64_t i = 0; i < t.inner; ++i) {
      const std::int64_t row = o * t.count;
      if (const int c = compare(x[(row + a) * t.inner + i], x[(row + b) * t.inner + i]); c != 0)
        return c;
    }
  return 0;
}

// The different things: where each stands first, how often, and which one each thing is.
struct Groups {
  std::vector<std::int64_t> first, counts, which;
};

Groups group(const Tensor& x, const Things& t, bool sorted) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(t.count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  Groups groups;
  groups.which.resize(order.size());
  visit_storage(x.type(), [&]<class T>(T*) {
    const T* data = x.data<T>().data();
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      return compare_things(data, t, a, b) < 0;
    });
    for (std::int64_t thing : order) {
      if (groups.first.empty() || compare_things(data, t, groups.first.back(), thing) != 0) {
        groups.first.push_back(thing);
        groups.counts.push_back(0);
      }
      ++groups.counts.back();
      groups.which[static_cast<std::size_t>(thing)] =
          static_cast<std::int64_t>(groups.first.size()) - 1;
    }
  });
  if (sorted) return groups;
  std::vector<std::size_t> by_place(groups.first.size()), rank(groups.first.size());
  std::iota(by_place.begin(), by_place.end(), std::size_t{0});
  std::sort(by_place.begin(), by_place.end(),
            [&](std::size_t a, std::size_t b) { return groups.first[a] < groups.first[b]; });
  Groups result;
  for (std::size_t i = 0; i < by_place.size(); ++i) {
    result.first.push_back(groups.first[by_place[i]]);
    result.counts.push_back(groups.counts[by_place[i]]);
    rank[by_place[i]] = i;
  }
  for (std::int64_t which : groups.which)
    result.which.push_back(static_cast<std::int64_t>(rank[static_cast<std::size_t>(which)]));
  return result;
}

// The input's extents with the axis along which it is compared, if both are known.
struct KnownAxis {
  Dims y;     // of the values
  Dim count;  // of the things that are compared
};

std::optional<KnownAxis> known_axis(const Infer& n) {
  const Dims* x = n.dims(0);
  if (!x) return std::nullopt;
  if (!n.site.has("axis")) return KnownAxis{{Dim()}, product(*x, 0, x->size())};
  const auto axis = find_axis(n.site, "axis", x->size());
  if (!axis) return std::nullopt;
  KnownAxis result{*x, (*x)[*axis]};
  result.y[*axis] = Dim();
  return result;
}

void infer_unique(Infer& n) {
  ValueType values = ValueType::tensor(n.element(0));
  Dim count;
  if (auto known = known_axis(n)) {
    values.dims = std::move(known->y);
    count = known->count;
  }
  n.output(0, std::move(values));
  n.output(1, ElementType::i64, {Dim()});
  n.output(2, ElementType::i64, {count});
  n.output(3, ElementType::i64, {Dim()});
}

void evaluate_unique(Call& call) {
  const Tensor& x = call.exact(0);
  const Things t = things_of(call.site, x.shape());
  const Groups groups = group(x, t, call.site.integer("sorted") != 0);
  Shape y = {static_cast<std::int64_t>(groups.first.size())};
  if (call.site.has("axis")) {
    y = x.shape();
    y[axis_of(call.site, "axis", y.size())] = static_cast<std::int64_t>(groups.first.size());
  }
  Sources sources{{0}, {}, {}, std::max<std::int64_t>(t.inner, 1)};
  for (std::int64_t o = 0; element_count(y) > 0 && o < t.outer; ++o)
    for (std::int64_t first : groups.first)
      sources.indices.push_back((o * t.count + first) * t.inner);
  const Value results[] = {gathered(call, sources, x.type(), y), make_vector(groups.first),
                           make_vector(groups.which), make_vector(groups.counts)};
  for (std::size_t i = 0; i < call.outputs.size(); ++i) call.outputs[i] = results[i];
}

// onnx.reference forgets about the order if nobody asks for more than the values.
void always_sorted(Builder& b) {
  const bool alone = !b.wants(1) && !b.wants(2) && !b.wants(3);
  const auto outputs = alone ? b.again({attribute("sorted", 1)}) : b.again();
  for (std::size_t i = 0; i < outputs.size(); ++i) b.output(i, outputs[i]);
}

Operator unique() {
  return {.name = "Unique",
          .versions = {11, 28},
          .summary = "The different elements, or subtensors along an axis, with where they stand.",
          .attributes = {{"axis", Role::axis}, {"sorted", Role::flag}},
          .require =
              [](Check& c) {
                if (c.site.has("axis")) require_axis(c, "X");
              },
          .infer = infer_unique,
          .meaning = custom(Pattern::opaque, evaluate_unique),
          .variants = {{"values-alone-are-sorted", Variant::Kind::defect,
                        "onnx.reference 1.23.2 with one output", always_sorted}}};
}

}  // namespace

std::vector<Operator> select_unique_operators() { return {unique()}; }

}  // namespace assay

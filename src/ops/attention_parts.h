// The steps of scaled dot-product attention on one head, and the entries of the other attentions.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/parallel.h"
#include "ops/operator.h"
#include "patterns/contraction.h"
#include "patterns/gemm.h"

namespace assay {

Operator flex_attention();
Operator linear_attention();
Operator rotary_embedding();

// Extents of Q as batch x heads x queries x size, K and V as batch x kv_heads x keys x …; a
// contiguous group of query heads shares a head of K and V.
struct HeadShape {
  std::int64_t batch = 0, heads = 0, kv_heads = 0, queries = 0, keys = 0, size = 0, value_size = 0;
  std::int64_t kv_head(std::int64_t head) const { return head / (heads / kv_heads); }
};

// Matrices of a value, each row by row, as the right side of products: as they are stored where
// the reading is `value`, as scalars of the reading otherwise.
template <class S>
class Operand {
 public:
  explicit Operand(Value value) : value_(std::move(value)) {
    if constexpr (!std::is_same_v<S, double>) scalars_ = load<S>(value_).data;
  }
  void scale(const S& factor) {
    for (S& x : scalars_) x = x * factor;
  }
  const S* scalars() const { return scalars_.data(); }

  // c (m x n) = a (m x k) times the k x n matrix from element `begin` on.
  void multiply_by(std::int64_t m, std::int64_t n, std::int64_t k, const S* a, std::int64_t begin,
                   std::int64_t row, std::int64_t column, S* c) const {
    if constexpr (std::is_same_v<S, double>) {
      const bool is_float = storage_of(value_.type()) == Storage::f32;
      const auto size = static_cast<std::int64_t>(is_float ? sizeof(float) : sizeof(double));
      const void* data = static_cast<const char*>(value_.tensor().raw()) + begin * size;
      gemm(m, n, k, {a, false, k, 1}, {data, is_float, row, column}, c, n);
    } else {
      multiply<S>(m, n, k, {a, k, 1}, {scalars_.data() + begin, row, column}, c);
    }
  }

 private:
  Value value_;
  std::vector<S> scalars_;
};

// Q and K scaled by a root of the factor of the scores each, as the standard has it: the factor is
// as given, or 1 / sqrt(size). In values Q takes all of it.
template <class S>
struct ScaledQueries {
  const Value& query;
  S factor;

  ScaledQueries(const Site& site, const HeadShape& s, const Value& q, Operand<S>& key) : query(q) {
    const S one = constant<S>(1.0);
    const S scale =
        site.has("scale") ? constant<S>(site.real("scale")) : one / sqrt(constant<S>(s.size));
    if constexpr (std::is_same_v<S, double>) {
      factor = scale;
    } else {
      factor = sqrt(abs(scale));
      key.scale(site.real("scale") < 0 ? -factor : factor);
    }
  }

  // scores[i][j] for the queries of one head from element `begin` on.
  void score(const HeadShape& s, std::int64_t begin, const Operand<S>& key, std::int64_t key_begin,
             S* scores) const {
    std::vector<S> scaled(static_cast<std::size_t>(s.queries * s.size));
    load<S>(query, begin, begin + s.queries * s.size, scaled.data());
    for (S& x : scaled) x = x * factor;
    key.multiply_by(s.queries, s.keys, s.size, scaled.data(), key_begin, 1, s.size, scores);
  }
};

template <class S>
void softmax_row(std::span<S> x) {
  if (x.empty()) return;
  const S top = maximum(std::span<const S>(x));
  for (S& value : x) value = exp(value - top);
  const S total = sum(std::span<const S>(x));
  for (S& value : x) value = within(value / total, 0, 1);
}

// A mean of the values with weights that add up to one, or to nothing: no further out than the
// values themselves.
inline Interval within_values(const Interval& mean, const Interval* p, const Interval* v,
                              const HeadShape& s) {
  double low = 0, high = 0;
  for (std::int64_t j = 0; j < s.keys; ++j) {
    if (p[j].nan) return mean;
    if (p[j].high <= 0) continue;
    const Interval& value = v[j * s.value_size];
    if (value.nan) return mean;
    low = std::min(low, value.low);
    high = std::max(high, value.high);
  }
  const double units = static_cast<double>(2 * s.keys + 16) * rounding().unit;
  const double slack = units * std::max(-low, high);
  return std::isfinite(slack) ? within(mean, low - slack, high + slack) : mean;
}

// y[i] = Σ p[i][j] v[j]; `means`: the rows of p are those of a softmax.
template <class S>
void weigh_head(const HeadShape& s, const S* p, const Operand<S>& v, std::int64_t begin, bool means,
                S* y) {
  v.multiply_by(s.queries, s.value_size, s.keys, p, begin, s.value_size, 1, y);
  if constexpr (std::is_same_v<S, Interval>) {
    for (std::int64_t i = 0; means && i < s.queries; ++i)
      for (std::int64_t d = 0; d < s.value_size; ++d) {
        Interval& mean = y[i * s.value_size + d];
        mean = within_values(mean, p + i * s.keys, v.scalars() + begin + d, s);
      }
  }
}

// Another format takes a number over: what it cannot hold is rounded.
template <class S>
void take_over(std::span<S> x) {
  if constexpr (!std::is_same_v<S, double>)
    for (S& value : x) value = value * constant<S>(1.0);
}

// Calls body(batch, head) for every head that has queries, on several threads, in the caller's
// rounding.
template <class Body>
void for_heads(const HeadShape& s, const Body& body) {
  if (s.queries == 0) return;
  const Rounding& rules = rounding();
  parallel_for(s.batch * s.heads, 1, [&](std::int64_t begin, std::int64_t end) {
    const RoundingScope scope(rules);
    for (std::int64_t i = begin; i < end; ++i) body(i / s.heads, i % s.heads);
  });
}

// Heads packed into the last extent of an input: as many as divide it, and none of no size.
bool require_packed(Check& c, const Dim& extent, std::int64_t heads, std::string_view what);

// Types that a softmax may be computed in.
bool require_softmax_precision(Check& c);

}  // namespace assay

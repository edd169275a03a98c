// The steps of scaled dot-product attention on one head, and the entries of the other attentions.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/parallel.h"
#include "ops/operator.h"
#include "patterns/contraction.h"

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

// The factor of the scores: as given, or 1 / sqrt(size). Q and K take a root of it each.
template <class S>
S root_of_scale(const Site& site, std::int64_t size) {
  if (site.has("scale")) return sqrt(abs(constant<S>(site.real("scale"))));
  return sqrt(constant<S>(1.0) / sqrt(constant<S>(size)));
}

// scores[i][j] = scale q_i k_j; all matrices row by row.
template <class S>
void score_head(const HeadShape& s, const S* q, const S* k, const S& root, bool negative,
                S* scores) {
  std::vector<S> scaled_q(q, q + s.queries * s.size), scaled_k(k, k + s.keys * s.size);
  for (S& x : scaled_q) x = x * root;
  for (S& x : scaled_k) x = negative ? -(x * root) : x * root;
  multiply<S>(s.queries, s.keys, s.size, {scaled_q.data(), s.size, 1}, {scaled_k.data(), 1, s.size},
              scores);
}

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
void weigh_head(const HeadShape& s, const S* p, const S* v, bool means, S* y) {
  multiply<S>(s.queries, s.value_size, s.keys, {p, s.keys, 1}, {v, s.value_size, 1}, y);
  if constexpr (std::is_same_v<S, Interval>) {
    for (std::int64_t i = 0; means && i < s.queries; ++i)
      for (std::int64_t d = 0; d < s.value_size; ++d) {
        Interval& mean = y[i * s.value_size + d];
        mean = within_values(mean, p + i * s.keys, v + d, s);
      }
  }
}

// Another format takes a number over: what it cannot hold is rounded.
template <class S>
void take_over(std::span<S> x) {
  if constexpr (!std::is_same_v<S, double>)
    for (S& value : x) value = value * constant<S>(1.0);
}

// Calls body(batch, head) for every head, on several threads, in the caller's rounding.
template <class Body>
void for_heads(const HeadShape& s, const Body& body) {
  const Rounding& rules = rounding();
  parallel_for(s.batch * s.heads, 1, [&](std::int64_t begin, std::int64_t end) {
    const RoundingScope scope(rules);
    for (std::int64_t i = begin; i < end; ++i) body(i / s.heads, i % s.heads);
  });
}

// Types that a softmax may be computed in.
bool require_softmax_precision(Check& c);

}  // namespace assay

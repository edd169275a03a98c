// The reductions of plain numbers that are not in the header.
#include "scalar/sequences.h"

#include <algorithm>

namespace assay {
namespace {

template <Integral S>
S wrapping_dot(std::span<const S> a, std::span<const S> b) {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    total += static_cast<std::uint64_t>(a[i]) * static_cast<std::uint64_t>(b[i]);
  }
  return static_cast<S>(total);
}

template <Integral S, class Term>
S wrapping_sum(std::span<const S> x, Term term) {
  std::uint64_t total = 0;
  for (S v : x) total += static_cast<std::uint64_t>(term(v));
  return static_cast<S>(total);
}

template <Integral S>
S wrapping_product(std::span<const S> x) {
  std::uint64_t total = 1;
  for (S v : x) total *= static_cast<std::uint64_t>(v);
  return static_cast<S>(total);
}

template <Integral S>
S largest_of(std::span<const S> x) {
  S result = std::numeric_limits<S>::min();
  for (S v : x) result = std::max(result, v);
  return result;
}

template <Integral S>
S smallest_of(std::span<const S> x) {
  S result = std::numeric_limits<S>::max();
  for (S v : x) result = std::min(result, v);
  return result;
}

template <Integral S>
S identity(S x) {
  return x;
}

}  // namespace

double log_sum_exp(std::span<const double> x) {
  const double top = maximum(x);
  if (!std::isfinite(top)) return top;
  const auto term = [&](std::size_t i) { return exp(x[i] - top); };
  return top + std::log(pairwise_sum(0, x.size(), term));
}

std::int64_t sum(std::span<const std::int64_t> x) {
  return wrapping_sum(x, identity<std::int64_t>);
}
std::uint64_t sum(std::span<const std::uint64_t> x) {
  return wrapping_sum(x, identity<std::uint64_t>);
}

std::int64_t dot(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  return wrapping_dot(a, b);
}
std::uint64_t dot(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  return wrapping_dot(a, b);
}

std::int64_t sum_of_squares(std::span<const std::int64_t> x) { return wrapping_dot(x, x); }
std::uint64_t sum_of_squares(std::span<const std::uint64_t> x) { return wrapping_dot(x, x); }

std::int64_t sum_of_absolutes(std::span<const std::int64_t> x) {
  return wrapping_sum(x, [](std::int64_t v) { return abs(v); });
}
std::uint64_t sum_of_absolutes(std::span<const std::uint64_t> x) { return sum(x); }

std::int64_t product(std::span<const std::int64_t> x) { return wrapping_product(x); }
std::uint64_t product(std::span<const std::uint64_t> x) { return wrapping_product(x); }

std::int64_t mean(std::span<const std::int64_t> x) {
  return divide(sum(x), static_cast<std::int64_t>(x.size()));
}
std::uint64_t mean(std::span<const std::uint64_t> x) {
  return divide(sum(x), static_cast<std::uint64_t>(x.size()));
}

std::int64_t maximum(std::span<const std::int64_t> x) { return largest_of(x); }
std::uint64_t maximum(std::span<const std::uint64_t> x) { return largest_of(x); }
bool maximum(std::span<const bool> x) { return largest_of(x); }
std::int64_t minimum(std::span<const std::int64_t> x) { return smallest_of(x); }
std::uint64_t minimum(std::span<const std::uint64_t> x) { return smallest_of(x); }
bool minimum(std::span<const bool> x) { return smallest_of(x); }

}  // namespace assay

#include "compare/pooled_reach.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <span>

namespace assay {
namespace {

constexpr std::size_t kPool = 64;  // elements of about one size
// Draws go to the ends of what rounding may do, honest evaluations stay well inside.
constexpr double kDeviations = 3;

// The first bits of a number without its sign: exponent and five more, so that numbers with the
// same ones are within a thirtieth of each other, and larger ones have larger ones.
constexpr std::size_t kSizes = 1 << 16;
std::size_t size_of(double value) { return std::bit_cast<std::uint64_t>(std::abs(value)) >> 47; }

// The elements in the order of their sizes; outputs may have millions.
std::vector<std::uint32_t> by_size(const std::vector<double>& values,
                                   const std::vector<std::uint32_t>& elements) {
  std::vector<std::uint32_t> places(kSizes + 1);
  for (const std::uint32_t i : elements) ++places[size_of(values[i]) + 1];
  std::partial_sum(places.begin(), places.end(), places.begin());
  std::vector<std::uint32_t> ordered(elements.size());
  for (const std::uint32_t i : elements) ordered[places[size_of(values[i])]++] = i;
  return ordered;
}

}  // namespace

void PooledReach::widen(const Tensor& center, std::int64_t runs,
                        std::vector<double>& allowance) const {
  const std::vector<double> values = center.reals();
  std::vector<std::uint32_t> finite;
  finite.reserve(values.size());
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i]) && std::isfinite(squares_[i])) finite.push_back(i);
  }
  const std::vector<std::uint32_t> ordered = by_size(values, finite);
  for (std::size_t begin = 0; begin < ordered.size(); begin += kPool) {
    const auto pool = std::span(ordered).subspan(begin, std::min(kPool, ordered.size() - begin));
    double squares = 0;
    for (const std::uint32_t i : pool) squares += squares_[i];
    const auto drawn = static_cast<double>(pool.size()) * static_cast<double>(runs);
    const double reach = kDeviations * std::sqrt(squares / drawn);
    for (const std::uint32_t i : pool) allowance[i] = std::max(allowance[i], reach);
  }
}

}  // namespace assay

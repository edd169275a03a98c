#include "compare/pooled_reach.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace assay {
namespace {

constexpr std::size_t kPool = 64;  // elements of about one size
constexpr double kDeviations = 3;  // what three times the largest of five draws is at least, mostly

}  // namespace

void PooledReach::widen(const Tensor& center, std::int64_t runs,
                        std::vector<double>& allowance) const {
  const std::vector<double> values = center.reals();
  std::vector<std::uint32_t> finite;
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i]) && std::isfinite(squares_[i])) finite.push_back(i);
  }
  std::stable_sort(finite.begin(), finite.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::abs(values[a]) < std::abs(values[b]);
  });
  for (std::size_t begin = 0; begin < finite.size(); begin += kPool) {
    const auto pool = std::span(finite).subspan(begin, std::min(kPool, finite.size() - begin));
    const double squares =
        std::accumulate(pool.begin(), pool.end(), 0.0,
                        [&](double sum, std::uint32_t i) { return sum + squares_[i]; });
    const auto drawn = static_cast<double>(pool.size()) * static_cast<double>(runs);
    const double reach = kDeviations * std::sqrt(squares / drawn);
    for (const std::uint32_t i : pool) allowance[i] = std::max(allowance[i], reach);
  }
}

}  // namespace assay

#include "compare/distance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace assay {
namespace {

constexpr int kFirst = 5;
constexpr std::size_t kMadBins = 5;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::array<std::string_view, 5> kNames = {"bound", "mad", "class", "l2", "cosine"};

double score(std::span<const double> output, std::int64_t label) {
  const double own = output[static_cast<std::size_t>(label)];
  std::int64_t rank = 1;
  for (std::size_t i = 0; i < output.size(); ++i) {
    const bool before =
        output[i] > own || (output[i] == own && static_cast<std::int64_t>(i) < label);
    if (before) ++rank;
  }
  // A score that is no number is nowhere.
  return std::isnan(own) || rank > kFirst ? 0 : std::pow(2.0, static_cast<double>(kFirst - rank));
}

double mean_difference(std::span<const double> output, std::span<const double> truth) {
  double sum = 0;
  for (std::size_t i = 0; i < output.size(); ++i) sum += std::abs(output[i] - truth[i]);
  return output.empty() ? 0 : sum / static_cast<double>(output.size());
}

}  // namespace

std::string_view to_text(Metric metric) { return kNames[static_cast<std::size_t>(metric)]; }

std::optional<Metric> find_metric(std::string_view text) {
  const auto found = std::find(kNames.begin(), kNames.end(), text);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Metric>(found - kNames.begin());
}

double class_distance(std::span<const double> a, std::span<const double> b, std::int64_t label) {
  return std::abs(score(a, label) - score(b, label));
}

double mad_distance(std::span<const double> a, std::span<const double> b,
                    std::span<const double> truth) {
  const double first = mean_difference(a, truth), second = mean_difference(b, truth);
  // One that is no number is as far away as can be, unless both are.
  if (!std::isfinite(first) || !std::isfinite(second)) {
    return std::isfinite(first) == std::isfinite(second) ? 0 : 1;
  }
  return first + second == 0 ? 0 : std::abs(first - second) / (first + second);
}

double l2_distance(std::span<const double> a, std::span<const double> b,
                   std::span<const double> truth) {
  double apart = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i] && !(std::isnan(a[i]) && std::isnan(b[i]))) {
      apart += (a[i] - b[i]) * (a[i] - b[i]);
    }
    if (std::isfinite(truth[i])) size += truth[i] * truth[i];
  }
  if (apart == 0) return 0;
  return std::isfinite(apart) && size > 0 ? std::sqrt(apart / size) : kInfinity;
}

double cosine_distance(std::span<const double> a, std::span<const double> b) {
  double product = 0, first = 0, second = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    product += a[i] * b[i];
    first += a[i] * a[i];
    second += b[i] * b[i];
  }
  if (first == 0 && second == 0) return 0;
  const double cosine = product / std::sqrt(first) / std::sqrt(second);
  if (!std::isnan(cosine)) return std::max(0.0, 1 - cosine);
  // What is no number has no direction; two of the same kind are as good as equal.
  return std::isfinite(first) == std::isfinite(second) && first != 0 && second != 0 ? 0 : 2;
}

std::vector<std::int64_t> pattern_of(Metric metric, std::span<const double> distances,
                                     double threshold) {
  const bool mad = metric == Metric::mad, ranks = metric == Metric::class_rank;
  std::vector<std::int64_t> bins(mad ? kMadBins : ranks ? 17 : 2, 0);
  for (const double distance : distances) {
    const double place = mad ? distance * kMadBins : ranks ? distance : distance > threshold;
    ++bins[std::min(static_cast<std::size_t>(place), bins.size() - 1)];
  }
  return bins;
}

}  // namespace assay

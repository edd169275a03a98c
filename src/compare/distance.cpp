#include "compare/distance.h"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

constexpr int kFirst = 5;
constexpr std::size_t kMadBins = 5;

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

std::string_view to_text(Metric metric) { return metric == Metric::mad ? "mad" : "class"; }

double threshold_of(Metric metric) {
  return metric == Metric::mad ? kMadThreshold : kClassThreshold;
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

std::vector<std::int64_t> pattern_of(Metric metric, std::span<const double> distances) {
  std::vector<std::int64_t> bins(metric == Metric::mad ? kMadBins : 17, 0);
  for (const double distance : distances) {
    const auto place =
        static_cast<std::size_t>(metric == Metric::mad ? distance * kMadBins : distance);
    ++bins[std::min(place, bins.size() - 1)];
  }
  return bins;
}

}  // namespace assay

#include "compare/labels.h"

#include <algorithm>

#include <fmt/format.h>

namespace assay {
namespace {

Error wrong(std::string message) { return {"usage", "labels: " + std::move(message), "--labels"}; }

}  // namespace

bool are_classes(const Tensor& labels) { return labels.rank() == 1 && is_integer(labels.type()); }

Result<void> check_labels(const std::optional<Tensor>& given,
                          const std::vector<std::vector<Spread>>& spreads) {
  if (!given) return {};
  const Tensor& labels = *given;
  if (!is_real(labels.type()) && !is_integer(labels.type())) {
    return wrong(fmt::format("of type {}; a class is a whole number, a true value a number",
                             short_name(labels.type())));
  }
  std::int64_t elements = 0;
  for (const std::vector<Spread>& piece : spreads) {
    if (piece.empty() || !piece.front().value.is_tensor()) {
      return wrong("the model's first output is no tensor");
    }
    elements += piece.front().value.tensor().size();
  }
  if (!are_classes(labels)) {
    if (labels.size() == elements) return {};
    return wrong(
        fmt::format("{} true values for {} elements of the first output", labels.size(), elements));
  }
  const std::int64_t classes = labels.size() == 0 ? 0 : elements / labels.size();
  for (std::int64_t i = 0; i < labels.size(); ++i) {
    const std::int64_t label = labels.integer(i);
    if (label >= 0 && label < classes) continue;
    return wrong(fmt::format("instance {} is of class {}, but the first output has classes 0 to {}",
                             i, label, classes - 1));
  }
  return {};
}

Result<void> check_labels(const std::optional<Tensor>& labels, const Criteria& criteria,
                          const std::vector<std::vector<Spread>>& spreads) {
  const bool ranks =
      std::any_of(criteria.metrics.begin(), criteria.metrics.end(), [](const auto& entry) {
        return std::count(entry.second.begin(), entry.second.end(), Metric::class_rank) > 0;
      });
  if (ranks && !(labels && are_classes(*labels))) {
    return wrong("the metric class needs a class for each instance");
  }
  return labels ? check_labels(*labels, spreads) : Result<void>();
}

}  // namespace assay

// Losses of a classification: N x C x d1 x … scores against N x d1 x … labels.
#include <limits>

#include <fmt/format.h>

#include "ops/families.h"
#include "patterns/rows.h"

namespace assay {
namespace {

// Labels that are ignored, and the weight of a class.
template <class S>
struct Labels {
  const std::vector<std::int64_t> classes;
  const std::int64_t ignored;  // outside of every class if none is
  const bool ignores;
  const Array<S> weights;  // empty: all one

  S weight(std::size_t i) const {
    if (skips(i)) return zero<S>();
    return weights.data.empty() ? constant<S>(1.0) : weights[classes[i]];
  }
  bool skips(std::size_t i) const { return ignores && classes[i] == ignored; }
};

template <class S>
Labels<S> read_labels(Frame<S>& f, std::int64_t count) {
  Labels<S> labels{f.exact(1).integers(), f.site().integer("ignore_index"),
                   f.site().has("ignore_index"), f.has(2) ? f.input(2) : Array<S>()};
  for (std::size_t i = 0; i < labels.classes.size(); ++i)
    if (!labels.skips(i) && (labels.classes[i] < 0 || labels.classes[i] >= count))
      throw EvaluationError(
          f.site().node().op + ".label-range",
          fmt::format("label {} is not one of {} classes", labels.classes[i], count));
  return labels;
}

// Minus the log-probability of each label, weighted, then reduced as `reduction` says. The mean is
// divided by the sum of the weights.
template <class S>
void reduce_loss(Frame<S>& f, const Array<S>& log_probabilities) {
  const std::int64_t classes = log_probabilities.shape[1];
  const Labels<S> labels = read_labels(f, classes);
  const std::int64_t inner = element_count(std::span(log_probabilities.shape).subspan(2));
  Array<S> losses, weights;
  for (std::size_t i = 0; i < labels.classes.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const S weight = labels.weight(i);
    weights.data.push_back(weight);
    if (labels.skips(i)) {
      losses.data.push_back(zero<S>());
      continue;
    }
    const std::int64_t source = (at / inner * classes + labels.classes[i]) * inner + at % inner;
    losses.data.push_back(-log_probabilities[source] * weight);
  }
  const std::string& reduction = f.site().text("reduction");
  Array<S> result(f.output_shape(0));
  if (reduction == "none")
    result.data = std::move(losses.data);
  else if (reduction == "sum")
    result.data = {sum(std::span<const S>(losses.data))};
  else
    result.data = {sum(std::span<const S>(losses.data)) / sum(std::span<const S>(weights.data))};
  f.output(0, result);
}

struct NegativeLogLikelihood {
  template <class S>
  void operator()(Frame<S>& f) const {
    reduce_loss(f, f.input(0));
  }
};

struct SoftmaxCrossEntropy {
  template <class S>
  void operator()(Frame<S>& f) const {
    const Array<S> scores = f.input(0);
    const RowLayout layout = row_layout(scores.shape, std::vector<std::int64_t>{1});
    Array<S> log_probabilities(scores.shape);
    std::vector<S> buffer;
    for (std::size_t r = 0; r < layout.starts.size(); ++r) {
      const std::span<const S> row = row_of(scores, layout, r, buffer);
      const S total = log_sum_exp(row);
      for (std::size_t i = 0; i < row.size(); ++i)
        log_probabilities[layout.starts[r] + layout.offsets[i]] = row[i] - total;
    }
    reduce_loss(f, log_probabilities);
    if (f.wants(1)) f.output(1, log_probabilities);
  }
};

void require_loss(Check& c, std::string_view scores, std::string_view labels,
                  std::string_view weights) {
  c.one_of("reduction", {"none", "sum", "mean"});
  if (!c.rank(scores, at_least(2)) || !c.dims(labels)) return;
  const Dims& x = *c.dims(scores);
  if (!c.rank(labels, exactly(static_cast<std::int64_t>(x.size()) - 1))) return;
  c.extent(labels, 0, x[0], "the batch");
  for (std::size_t d = 2; d < x.size(); ++d)
    c.extent(labels, static_cast<std::int64_t>(d) - 1, x[d], "the extent of the scores");
  if (c.rank(weights, exactly(1))) c.weight_extent(weights, 0, x[1], "the number of classes");
}

void infer_loss(Infer& n) {
  if (n.site.text("reduction") != "none")
    n.output(0, n.element(0), {});
  else if (const Dims* labels = n.dims(1))
    n.output(0, n.element(0), *labels);
  else
    n.output(0, n.element(0));
  n.output(1, n.site.type(0));
}

// Frameworks whose weighted mean divides by the number of labels.
void mean_over_count(Builder& b) {
  const std::string none = b.again({attribute("reduction", "none")}).front();
  b.output(0, b("ReduceMean", {none}, {attribute("keepdims", 0)}));
}

const std::vector<AttributeRole> kRoles = {{"ignore_index", Role::number},
                                           {"reduction", Role::choice}};

}  // namespace

std::vector<Operator> loss_operators() {
  return {{.name = "NegativeLogLikelihoodLoss",
           .versions = {12, 13, 22},
           .summary = "Minus the log-probability of the labels, weighted by class.",
           .attributes = kRoles,
           .require = [](Check& c) { require_loss(c, "input", "target", "weight"); },
           .infer = infer_loss,
           .meaning = compute<NegativeLogLikelihood>(Pattern::gather),
           .variants = {{"mean-over-count", Variant::Kind::difference,
                         "losses whose weighted mean divides by the number of labels",
                         mean_over_count}}},
          {.name = "SoftmaxCrossEntropyLoss",
           .versions = {12, 13},
           .summary = "Minus the log-softmax of the labels' scores, weighted by class.",
           .attributes = kRoles,
           .require = [](Check& c) { require_loss(c, "scores", "labels", "weights"); },
           .infer = infer_loss,
           .meaning = compute<SoftmaxCrossEntropy>(Pattern::rowwise),
           .variants = {{"mean-over-count", Variant::Kind::difference,
                         "losses whose weighted mean divides by the number of labels",
                         mean_over_count}}}};
}

}  // namespace assay

// ai.onnx.ml: scores of classifiers and the labels that they choose.
#pragma once

#include <limits>

#include "ops/ml_labels.h"
#include "patterns/compute.h"

namespace assay {

template <class S>
void transform_rows(PostTransform transform, Array<S>& scores) {
  const std::int64_t columns = scores.shape.back();
  for (std::int64_t r = 0; r < scores.shape[0]; ++r)
    apply(transform,
          std::span<S>(scores.data.data() + r * columns, static_cast<std::size_t>(columns)));
}

// Two columns from the first one: its complement (1 - s, or -s) and itself.
template <class S>
Array<S> with_complement(const Array<S>& scores, bool to_one) {
  const std::int64_t columns = scores.shape.back();
  Array<S> result(Shape{scores.shape[0], 2});
  for (std::int64_t r = 0; r < scores.shape[0]; ++r) {
    const S s = scores[r * columns];
    result[2 * r] = to_one ? constant<S>(1.0) - s : -s;
    result[2 * r + 1] = s;
  }
  return result;
}

// The label of a row at place `at`; `open` where scores that are not exact leave it undecided.
struct Choice {
  std::int64_t at;
  bool open;
};

inline Interval covered(double x) { return Interval::point(x); }
inline Interval covered(const Bounded& x) { return enclose(x); }
inline Interval covered(const Interval& x) { return x; }

// The first largest score.
template <class S>
Choice choose(std::span<const S> row) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < row.size(); ++i)
    if (to_double(row[i]) > to_double(row[best])) best = i;
  bool open = false;
  if constexpr (!std::is_same_v<S, double>)
    for (std::size_t i = 0; i < row.size(); ++i)
      open = open || (i != best && !(covered(row[i]).high < covered(row[best]).low));
  return {static_cast<std::int64_t>(best), open};
}

// Labels as an output: exact where all choices are; else any label may stand there.
template <class S>
Value labels_of(const Frame<S>& f, const Tensor& labels, const std::vector<Choice>& choices) {
  std::vector<std::int64_t> places;
  bool open = false;
  for (const Choice& choice : choices) {
    places.push_back(choice.at);
    open = open || choice.open;
  }
  Tensor chosen = labels_at(labels, places);
  if (!open) return chosen;
  if (labels.type() == ElementType::string) return Value::unknown();
  std::vector<Interval> ranges;
  Buffer<double> errors;
  double low = labels.real(0), high = low;
  for (double x : labels.reals()) {
    low = std::min(low, x);
    high = std::max(high, x);
  }
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const double x = chosen.real(static_cast<std::int64_t>(i));
    ranges.push_back(choices[i].open ? Interval{low, high, false} : Interval::point(x));
    errors.push_back(choices[i].open ? std::max(high - x, x - low) : 0);
  }
  if (f.call().reading == Reading::interval)
    return Value::ranges(chosen.type(), chosen.shape(), std::move(ranges));
  return Value::bounded(std::move(chosen), std::move(errors));
}

template <class S>
Value chosen_labels(const Frame<S>& f, const Array<S>& scores, const Tensor& labels) {
  const std::int64_t columns = scores.shape.back();
  std::vector<Choice> choices;
  for (std::int64_t r = 0; r < scores.shape[0]; ++r) {
    Choice choice = choose(
        std::span<const S>(scores.data.data() + r * columns, static_cast<std::size_t>(columns)));
    choice.at = std::min(choice.at, labels.size() - 1);
    choices.push_back(choice);
  }
  return labels_of(f, labels, choices);
}

// Labels Y of each row and scores Z, whose width only the attributes tell.
void infer_classifier(Infer& n);

}  // namespace assay

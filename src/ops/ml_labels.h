// ai.onnx.ml: class labels, which are texts or integers, and what classifiers do with scores.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ops/operator.h"
#include "scalar/sequences.h"
#include "scalar/tighten.h"

namespace assay {

// The labels that one of two attributes gives, as a tensor of strings or of 64-bit integers.
Tensor class_labels(const Site& site, std::string_view texts, std::string_view integers);
// One and only one of the two attributes has labels.
bool require_labels(Check& c, std::string_view texts, std::string_view integers);
// Labels at the given places.
Tensor labels_at(const Tensor& labels, const std::vector<std::int64_t>& places);

double number_of(const std::string& text);  // throws EvaluationError if it is none

// How raw scores become the ones that are shown.
enum class PostTransform : std::uint8_t { none, softmax, logistic, softmax_zero, probit };
PostTransform post_transform_of(const std::string& word);
void require_post_transform(Check& c);

// sqrt(2) * inverse_erf(2p - 1), by the closed approximation that the operators have always used.
template <class S>
S probit(const S& p) {
  const S x = constant<S>(2.0) * p - constant<S>(1.0);
  const S rest = (constant<S>(1.0) - x) * (constant<S>(1.0) + x);
  const S logarithm = log(rest);
  const S a = constant<S>(2.0 / (3.14159265358979323846 * 0.147)) + constant<S>(0.5) * logarithm;
  const S b = constant<S>(1.0 / 0.147) * logarithm;
  const S magnitude = sqrt(max(sqrt(max(square(a) - b, zero<S>())) - a, zero<S>()));
  const S signed_root = select(less(x, zero<S>()), -magnitude, magnitude);
  return constant<S>(1.41421356) * select(equal(rest, zero<S>()), zero<S>(), signed_root);
}

// Applied to the scores of one row.
template <class S>
void apply(PostTransform transform, std::span<S> row) {
  if (row.empty()) return;
  const std::vector<S> x(row.begin(), row.end());
  switch (transform) {
    case PostTransform::none:
      return;
    case PostTransform::logistic:
      for (std::size_t i = 0; i < row.size(); ++i) row[i] = sigmoid(x[i]);
      return;
    case PostTransform::probit:
      for (std::size_t i = 0; i < row.size(); ++i) row[i] = probit(x[i]);
      return;
    case PostTransform::softmax:
    case PostTransform::softmax_zero:
      break;
  }
  const S top = maximum(std::span<const S>(x));
  for (std::size_t i = 0; i < row.size(); ++i) {
    row[i] = exp(x[i] - top);
    // Scores of (nearly) zero keep their weight of zero.
    if (transform == PostTransform::softmax_zero)
      row[i] = select(less_equal(abs(x[i]), constant<S>(1e-7)), x[i] * exp(-top), row[i]);
  }
  const S total = sum(std::span<const S>(row.begin(), row.end()));
  for (S& y : row)
    y = select(equal(total, zero<S>()), constant<S>(0.5), within(divide(y, total), 0, 1));
}

std::vector<Operator> label_encoders();  // LabelEncoder and OneHotEncoder

}  // namespace assay

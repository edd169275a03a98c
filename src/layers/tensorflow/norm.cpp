// Normalisations and their gradients.
#include "layers/tensorflow/vocabulary.h"

namespace assay::tensorflow {
namespace {

double epsilon_of(const Builder& b) { return b.site().real("epsilon", static_cast<double>(1e-4F)); }

bool training(const Builder& b) { return b.site().integer("is_training", 1) != 0; }

// Statistics are of the type U, which the first version calls T.
const char* statistics_type(const Builder& b) { return b.site().has("U") ? "U" : "T"; }

// From and to the type of the statistics, where it is another.
std::string as_statistics(Builder& b, const std::string& value) {
  const char* type = statistics_type(b);
  return type_of(b, type) == type_of(b) ? value : to_type(b, value, type);
}

std::string as_values(Builder& b, const std::string& value) {
  return type_of(b, statistics_type(b)) == type_of(b) ? value : to_type(b, value, "T");
}

std::string inverse_deviation(Builder& b, const std::string& variance) {
  const std::string shifted = b("Add", {variance, number(b, epsilon_of(b), statistics_type(b))});
  return b("Reciprocal", {b("Sqrt", {shifted})});
}

struct Moments {
  std::string mean, variance, unbiased;  // vectors
};

Moments moments_of(Builder& b, const std::string& x) {
  const std::string axes = channel_axes(b, x);
  const std::string mean = mean_over(b, x, axes, false);
  const std::string far = b("Sub", {x, along_channels(b, mean, x)});
  const std::string variance = mean_over(b, square(b, far), axes, false);
  const std::string count = b("Div", {b("Size", {x}), b("Size", {mean})});
  const std::string others = b("Max", {b("Sub", {count, b.integer(1)}), b.integer(1)});
  const std::string ratio =
      b("Div", {to_type(b, count, statistics_type(b)), to_type(b, others, statistics_type(b))});
  return {mean, variance, b("Mul", {variance, ratio})};
}

// A share of the old statistic, and of the new one: exponential_avg_factor.
std::string blended(Builder& b, const std::string& old, const std::string& fresh) {
  const double share = b.site().real("exponential_avg_factor", 1);
  if (share == 1) return fresh;
  const char* type = statistics_type(b);
  return b("Add", {b("Mul", {old, number(b, 1 - share, type)}),
                   b("Mul", {fresh, number(b, share, type)})});
}

// (x, scale, offset, mean, variance) → y, mean and variance of the batch, the same for the gradient
void fused_batch_norm(Builder& b) {
  const std::string x = as_statistics(b, b.input(0));
  Moments moments{b.input(3), b.input(4), b.input(4)};
  if (training(b)) moments = moments_of(b, x);
  const std::string slope = b("Mul", {inverse_deviation(b, moments.variance), b.input(1)});
  const std::string far = b("Sub", {x, along_channels(b, moments.mean, x)});
  const std::string scaled = b("Mul", {far, along_channels(b, slope, x)});
  b.output(0, as_values(b, b("Add", {scaled, along_channels(b, b.input(2), x)})));
  const bool blend = training(b);
  b.output(1, b("Identity", {blend ? blended(b, b.input(3), moments.mean) : moments.mean}));
  b.output(2, b("Identity", {blend ? blended(b, b.input(4), moments.unbiased) : moments.variance}));
  b.output(3, b("Identity", {moments.mean}));
  b.output(4, b("Identity", {moments.variance}));
  b.output(5, b.constant(make_scalar(type_of(b, statistics_type(b)), 0)));
}

// (gradient, x, scale, mean, variance) → gradients of x, scale, offset
void fused_batch_norm_grad(Builder& b) {
  const char* type = statistics_type(b);
  const std::string dy = as_statistics(b, b.input(0)), x = as_statistics(b, b.input(1));
  const std::string axes = channel_axes(b, x);
  const std::string inverse = inverse_deviation(b, b.input(4));
  const std::string far = b("Sub", {x, along_channels(b, b.input(3), x)});
  const std::string normal = b("Mul", {far, along_channels(b, inverse, x)});
  const std::string by_scale = b("Mul", {dy, normal});
  const std::string slope = along_channels(b, b("Mul", {inverse, b.input(2)}), x);
  std::string rest = dy;
  if (training(b)) {
    const std::string mean = mean_over(b, dy, axes, false);
    const std::string share = mean_over(b, by_scale, axes, false);
    rest = b("Sub", {b("Sub", {dy, along_channels(b, mean, x)}),
                     b("Mul", {normal, along_channels(b, share, x)})});
  }
  b.output(0, as_values(b, b("Mul", {rest, slope})));
  b.output(1, sum_over(b, by_scale, axes, false));
  b.output(2, sum_over(b, dy, axes, false));
  b.output(3, b.constant(Tensor(type_of(b, type), {0})));
  b.output(4, b.constant(Tensor(type_of(b, type), {0})));
}

// Over neighbouring channels, always channels last.
void lrn(Builder& b) {
  const std::int64_t size = 2 * b.site().integer("depth_radius", 5) + 1;
  const double alpha = b.site().real("alpha", 1) * static_cast<double>(size);
  const std::string normal = b(
      "LRN", {transpose(b, b.input(0), {0, 3, 1, 2})},
      {attribute("size", size), attribute("alpha", alpha),
       attribute("beta", b.site().real("beta", 0.5)), attribute("bias", b.site().real("bias", 1))});
  b.output(0, transpose(b, normal, {0, 2, 3, 1}));
}

}  // namespace

std::vector<Definition> norm_definitions() {
  return {{"FusedBatchNorm", fused_batch_norm, 5},
          {"FusedBatchNormGrad", fused_batch_norm_grad, 5},
          {"FusedBatchNormGradV2", fused_batch_norm_grad, 5},
          {"FusedBatchNormGradV3", fused_batch_norm_grad, 5},
          {"FusedBatchNormV2", fused_batch_norm, 5},
          {"FusedBatchNormV3", fused_batch_norm, 6},
          {"LRN", lrn}};
}

}  // namespace assay::tensorflow

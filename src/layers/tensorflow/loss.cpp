// Losses over classes, with the gradient that TensorFlow returns beside them.
#include "layers/tensorflow/vocabulary.h"

namespace assay::tensorflow {
namespace {

std::string log_softmax(Builder& b) {
  return b("LogSoftmax", {b.input(0)}, {attribute("axis", -1)});
}

std::string softmax(Builder& b) { return b("Softmax", {b.input(0)}, {attribute("axis", -1)}); }

// (features, labels): the loss of each row, and its gradient for the features.
void cross_entropy(Builder& b) {
  const std::string each = b("Mul", {b.input(1), log_softmax(b)});
  b.output(0, b("Neg", {sum_over(b, each, b.integers({-1}), false)}));
  if (b.wants(1)) b.output(1, b("Sub", {softmax(b), b.input(1)}));
}

// The same with one class a row.
void sparse_cross_entropy(Builder& b) {
  const std::string labels = indices(b, 1);
  const std::string places = b("Unsqueeze", {labels, b.integers({-1})});
  const std::string picked = b("GatherElements", {log_softmax(b), places}, {attribute("axis", -1)});
  b.output(0, b("Neg", {b("Squeeze", {picked, b.integers({-1})})}));
  if (!b.wants(1)) return;
  const std::string ends = join(b, {flat(b, number(b, 0)), flat(b, number(b, 1))});
  const std::string hot = b("OneHot", {labels, extent(b, b.input(0), -1), ends});
  b.output(1, b("Sub", {softmax(b), hot}));
}

}  // namespace

std::vector<Definition> loss_definitions() {
  return {{"SoftmaxCrossEntropyWithLogits", cross_entropy, 2},
          {"SparseSoftmaxCrossEntropyWithLogits", sparse_cross_entropy, 2}};
}

}  // namespace assay::tensorflow

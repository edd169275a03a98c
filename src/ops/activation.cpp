// Activations: one input, element by element.
#include "ops/families.h"
#include "patterns/elementwise.h"

namespace assay {
namespace {

struct Relu {
  template <class S>
  S operator()(S x) const {
    return max(x, zero<S>());
  }
};

struct LeakyRelu {
  double alpha;
  explicit LeakyRelu(const Call& call) : alpha(call.site.real("alpha")) {}
  template <class S>
  S operator()(S x) const {
    return select(less(x, zero<S>()), constant<S>(alpha) * x, x);
  }
};

Operator relu() {
  return {.name = "Relu",
          .versions = {1, 6, 13, 14},
          .summary = "max(0, x).",
          .attributes = {{"consumed_inputs", Role::number}},
          .infer = same_as_first,
          .meaning = elementwise<Relu, RealsAndIntegers>()};
}

Operator leaky_relu() {
  return {.name = "LeakyRelu",
          .versions = {1, 6, 16},
          .summary = "x above zero, alpha * x below.",
          .attributes = {{"alpha", Role::factor}, {"consumed_inputs", Role::number}},
          .infer = same_as_first,
          .meaning = elementwise<LeakyRelu>()};
}

}  // namespace

std::vector<Operator> activation_operators() { return {leaky_relu(), relu()}; }

}  // namespace assay

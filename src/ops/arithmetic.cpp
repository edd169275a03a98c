// Arithmetic on two or more tensors that broadcast.
#include "ops/broadcast.h"
#include "ops/families.h"
#include "patterns/elementwise.h"

namespace assay {
namespace {

struct Add {
  template <class S>
  S operator()(S a, S b) const {
    return a + b;
  }
};

struct Maximum {
  template <class S>
  S operator()(std::span<const S> x) const {
    return maximum(x);
  }
};

// The gradient of a broadcast input: summed over the axes along which it was repeated.
std::string sum_to_input(Builder& b, std::size_t input, std::string gradient) {
  const Dims &to = *b.site().dims(input), &from = *b.site().dims(2);
  std::vector<std::int64_t> axes;
  const std::size_t extra = from.size() - to.size();
  for (std::size_t d = 0; d < from.size(); ++d)
    if (d < extra || to[d - extra].value != from[d].value) axes.push_back(static_cast<std::int64_t>(d));
  if (!axes.empty())
    gradient = b("ReduceSum", {gradient, b.integers(axes)}, {attribute("keepdims", 1)});
  return b("Reshape", {gradient, b.integers(*to_shape(to))}, {attribute("allowzero", 1)});
}

void add_adjoint(Builder& b) {
  b.output(0, sum_to_input(b, 0, b.input(3)));
  b.output(1, sum_to_input(b, 1, b.input(3)));
}

Operator add() {
  return {.name = "Add",
          .versions = {1, 6, 7, 13, 14},
          .summary = "The sum of two tensors, element by element.",
          .attributes = kBroadcastRoles,
          .require = require_broadcast,
          .infer = infer_broadcast,
          .meaning = aligned(elementwise<Add, RealsAndIntegers>()),
          .adjoint = {add_adjoint, ""}};
}

Operator max() {
  return {.name = "Max",
          .versions = {1, 6, 8, 12, 13},
          .summary = "The largest of the elements at each place; NaN if one of them is NaN.",
          .attributes = {{"consumed_inputs", Role::number}},
          .require = [](Check& c) { c.broadcastable(); },
          .infer = broadcast_all,
          .meaning = elementwise<Maximum, RealsAndIntegers>()};
}

}  // namespace

std::vector<Operator> arithmetic_operators() { return {add(), max()}; }

}  // namespace assay

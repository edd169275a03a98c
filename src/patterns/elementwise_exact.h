// Elementwise operators that are one operation: bounds of exact tensors by loops over numbers.
#pragma once

#include "patterns/elementwise.h"
#include "scalar/margins.h"

namespace assay {

namespace elementwise_detail {
// The bounded reading of a call in float32 whose inputs are exact; false for any other call.
bool run_exact(Call& call, const Kernel<double>& kernel, Margins margins);
}  // namespace elementwise_detail

// As elementwise, or what else a body means, where `margins` tells its errors on exact operands.
template <class Body, class Kinds = Reals>
Meaning elementwise_exact(Margins margins, Meaning meaning = elementwise<Body, Kinds>()) {
  using namespace elementwise_detail;
  meaning.evaluate = [margins, general = std::move(meaning.evaluate)](Call& call) {
    if (call.reading == Reading::bounded) {
      Kernels kernels;
      add_real_kernels(make_body<Body>(call), kernels);
      if (run_exact(call, kernels.real, margins)) return;
    }
    general(call);
  };
  return meaning;
}

}  // namespace assay

// Elementwise operators that are one operation: bounds of exact tensors by loops over numbers.
#pragma once

#include "patterns/elementwise_long.h"
#include "scalar/margins.h"

namespace assay {

namespace elementwise_detail {
// The bounded reading of a call in float32 whose inputs are exact; false for any other call.
bool run_exact(Call& call, const Kernel<double>& kernel, Margins margins);
}  // namespace elementwise_detail

// An elementwise meaning of a body whose errors on exact operands `margins` tells; `kLong` for one
// of many operations, as elementwise_long.
template <class Body, bool kLong = false>
Meaning elementwise_exact(Margins margins, Meaning meaning) {
  using namespace elementwise_detail;
  meaning.evaluate = [margins, general = std::move(meaning.evaluate)](Call& call) {
    if (call.reading == Reading::bounded) {
      const Body body = make_body<Body>(call);
      Kernels kernels;
      add_real_kernels(body, kernels);
      if constexpr (kLong) {
        if (widest_loops()) kernels.real = widest_kernel<double>(body);
      }
      if (run_exact(call, kernels.real, margins)) return;
    }
    general(call);
  };
  return meaning;
}

}  // namespace assay

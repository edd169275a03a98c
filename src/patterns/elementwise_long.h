// Elementwise for bodies of many operations on reals, which are worth the vectors of AVX-512.
#pragma once

#include "patterns/elementwise.h"

namespace assay {
namespace elementwise_detail {

// Whether loops may use AVX-512.
bool widest_loops();

// The same bits as the other loops: nothing is fused.
template <class T, class Body>
__attribute__((target("avx512f,avx512dq,avx512vl"), flatten)) void widest_loop(
    const Body& body, const T* const* in, std::size_t inputs, T* out, std::int64_t count) {
  loop<double>(body, in, inputs, out, count);
}

template <class T, class Body>
Kernel<T> widest_kernel(const Body& body) {
  return [body](const T* const* in, std::size_t inputs, T* out, std::int64_t count) {
    widest_loop(body, in, inputs, out, count);
  };
}

}  // namespace elementwise_detail

// As elementwise<Body, Reals>. What is short waits for memory, whatever its vectors are.
template <class Body>
Meaning elementwise_long() {
  using namespace elementwise_detail;
  return {Pattern::elementwise,
          [](Call& call) {
            const Body body = make_body<Body>(call);
            Kernels kernels;
            add_real_kernels(body, kernels);
            if (widest_loops()) kernels.single = widest_kernel<float>(body);
            if (call.reading != Reading::value) {
              kernels.bounded = kernel<Bounded>(body);
              kernels.interval = kernel<Interval>(body);
            }
            run(call, kernels);
          },
          true};
}

}  // namespace assay

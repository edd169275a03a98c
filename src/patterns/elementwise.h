// Elementwise: each output element is a body of the elements at the same (broadcast) place.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>

#include "patterns/array.h"
#include "patterns/call.h"

namespace assay {

// The kinds of element that a body is written for; a body is compiled for no others.
struct Reals {};             // double, Bounded, Interval
struct Integers {};          // int64, uint64 (booleans too), Bounded and Interval of them
struct RealsAndIntegers {};  // all of these
// int64 and uint64 only; the body says what ranges give: Interval range(std::span<const Interval>).
struct Bits {};

namespace elementwise_detail {

// out[i] = body(in[0][i], in[1][i], …) for i < count, on elements that lie in memory as T.
template <class T>
using Kernel =
    std::function<void(const T* const* in, std::size_t inputs, T* out, std::int64_t count)>;

struct Kernels {
  Kernel<double> real;
  Kernel<float> single;  // computes in double, rounds once; only where loops are wide
  Kernel<Bounded> bounded;
  Kernel<Interval> interval;
  Kernel<std::int64_t> integer;
  Kernel<std::uint64_t> natural;
};

void run(Call& call, const Kernels& kernels);

// Whether loops use the instructions of AVX2. Bodies are compiled for both, without fused
// operations, and give the same bits.
bool wide_loops();

inline double as_scalar(double x) { return x; }
inline Bounded as_scalar(Bounded x) { return x; }
inline Interval as_scalar(Interval x) { return x; }
inline std::int64_t as_scalar(std::int64_t x) { return x; }
inline std::uint64_t as_scalar(std::uint64_t x) { return x; }
template <class S>
S from_condition(bool c) {
  return S(c ? 1 : 0);
}
template <class S>
S from_condition(Truth c) {
  if constexpr (std::is_same_v<S, Bounded>)
    return Bounded{c.value ? 1.0 : 0.0, c.may_be_true && c.may_be_false ? 1.0 : 0.0};
  else
    return Interval{c.may_be_false ? 0.0 : 1.0, c.may_be_true ? 1.0 : 0.0, false};
}
template <class S, class R>
S to_scalar(R result) {
  if constexpr (std::is_same_v<R, bool> || std::is_same_v<R, Truth>)
    return from_condition<S>(result);
  else
    return as_scalar(result);
}

// Calls each(i) for i < count, in inner loops of constant length: those gcc vectorizes at -O2.
// Always inlined, since a function that two loops share would be compiled for the instructions of
// neither.
template <class Each>
inline __attribute__((always_inline)) void for_each_index(std::int64_t count, const Each& each) {
  constexpr std::int64_t kRun = 16;
  std::int64_t i = 0;
  for (; i + kRun <= count; i += kRun) {
    for (std::int64_t j = 0; j < kRun; ++j) each(i + j);
  }
  for (; i < count; ++i) each(i);
}

// A body may have several forms; the one for the number of inputs that are given is taken.
template <class S, class T, class Body>
inline __attribute__((always_inline)) void loop(const Body& body, const T* const* in,
                                                std::size_t inputs, T* result, std::int64_t count) {
  constexpr bool kOne = requires(S x) { body(x); };
  T* __restrict out = result;
  const T* __restrict a = in[0];
  const T* __restrict b = inputs > 1 ? in[1] : nullptr;
  const T* __restrict c = inputs > 2 ? in[2] : nullptr;
  if constexpr (kOne) {
    if (inputs == 1)
      return for_each_index(count, [&](std::int64_t i) {
        out[i] = static_cast<T>(to_scalar<S>(body(static_cast<S>(a[i]))));
      });
  }
  if constexpr (requires(S x) { body(x, x); }) {
    if (inputs == 2)
      return for_each_index(count, [&](std::int64_t i) {
        out[i] = static_cast<T>(to_scalar<S>(body(static_cast<S>(a[i]), static_cast<S>(b[i]))));
      });
  }
  if constexpr (requires(S x) { body(x, x, x); }) {
    if (inputs == 3)
      return for_each_index(count, [&](std::int64_t i) {
        out[i] = static_cast<T>(
            to_scalar<S>(body(static_cast<S>(a[i]), static_cast<S>(b[i]), static_cast<S>(c[i]))));
      });
  }
  if constexpr (!kOne && requires(std::span<const S> point) { body(point); }) {
    std::vector<S> point(inputs);
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::size_t k = 0; k < inputs; ++k) point[k] = static_cast<S>(in[k][i]);
      out[i] = static_cast<T>(to_scalar<S>(body(std::span<const S>(point))));
    }
  }
}

// Flat, because only what is inlined here is compiled for these instructions.
template <class T, class Body>
__attribute__((target("avx2"), flatten)) void wide_loop(const Body& body, const T* const* in,
                                                        std::size_t inputs, T* out,
                                                        std::int64_t count) {
  loop<double>(body, in, inputs, out, count);
}

template <class S, class Body>
Kernel<S> kernel(const Body& body) {
  return [body](const S* const* in, std::size_t inputs, S* out, std::int64_t count) {
    loop<S>(body, in, inputs, out, count);
  };
}

template <class T, class Body>
Kernel<T> wide_kernel(const Body& body) {
  return [body](const T* const* in, std::size_t inputs, T* out, std::int64_t count) {
    wide_loop(body, in, inputs, out, count);
  };
}

template <class Body>
void add_real_kernels(const Body& body, Kernels& kernels) {
  if (wide_loops()) {
    kernels.real = wide_kernel<double>(body);
    kernels.single = wide_kernel<float>(body);
  } else {
    kernels.real = kernel<double>(body);
  }
}

template <class Body>
Kernel<Interval> range_kernel(const Body& body) {
  return [body](const Interval* const* in, std::size_t inputs, Interval* out, std::int64_t count) {
    std::vector<Interval> point(inputs);
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::size_t k = 0; k < inputs; ++k) point[k] = in[k][i];
      out[i] = body.range(std::span<const Interval>(point));
    }
  };
}

template <class Body>
Body make_body(const Call& call) {
  if constexpr (std::is_constructible_v<Body, const Call&>)
    return Body(call);
  else
    return Body{};
}

}  // namespace elementwise_detail

// Body: a copyable function object, made from the call if it has such a constructor, with
//   template <class S> S operator()(S x) const            one input
//   template <class S> S operator()(S x, S y) const       two, three likewise
//   template <class S> S operator()(std::span<const S>)   any number; only the inputs that are
//   given
// It may have several of these forms: the number of given inputs decides.
// A result may be a condition (bool or Truth): it is stored as 0 or 1.
template <class Body, class Kinds = Reals>
Meaning elementwise() {
  using namespace elementwise_detail;
  return {Pattern::elementwise,
          [](Call& call) {
            const Body body = make_body<Body>(call);
            Kernels kernels;
            if constexpr (std::is_same_v<Kinds, Reals> || std::is_same_v<Kinds, RealsAndIntegers>)
              add_real_kernels(body, kernels);
            if constexpr (!std::is_same_v<Kinds, Reals>) {
              kernels.integer = kernel<std::int64_t>(body);
              kernels.natural = kernel<std::uint64_t>(body);
            }
            if constexpr (std::is_same_v<Kinds, Bits>) {
              kernels.interval = range_kernel(body);
            } else if (call.reading != Reading::value) {
              kernels.bounded = kernel<Bounded>(body);
              kernels.interval = kernel<Interval>(body);
            }
            run(call, kernels);
          },
          true};
}

}  // namespace assay

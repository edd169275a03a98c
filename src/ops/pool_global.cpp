// Pooling over whole channels.
#include <algorithm>
#include <type_traits>

#include "base/parallel.h"
#include "ops/alignment.h"
#include "ops/pool.h"
#include "patterns/compute.h"
#include "patterns/row_kernels.h"

namespace assay {
namespace {

// Reduces everything behind N and C, one contiguous row a channel. A body may also say what it
// makes of stored elements: double stored(const T* x, count), T float or double.
template <class Body>
struct Global {
  Body body;
  explicit Global(const Call& call) : body(elementwise_detail::make_body<Body>(call)) {}

  template <class S>
  void operator()(Frame<S>& frame) const {
    const Shape& shape = frame.shape(0);
    const std::int64_t channels = shape[0] * shape[1];
    const std::int64_t length = element_count(std::span(shape).subspan(2));
    Array<S> y(frame.output_shape(0));
    const Value& x = frame.call().input(0);
    const Rounding& rules = rounding();
    const auto reduce = [&](std::int64_t begin, std::int64_t end) {
      const RoundingScope scope(rules);
      std::vector<S> row;
      for (std::int64_t c = begin; c < end; ++c) {
        if constexpr (std::is_same_v<S, double> &&
                      requires(const float* p) { body.stored(p, c); }) {
          y[c] = storage_of(x.type()) == Storage::f32
                     ? body.stored(x.tensor().data<float>().data() + c * length, length)
                     : body.stored(x.tensor().data<double>().data() + c * length, length);
        } else {
          row.resize(static_cast<std::size_t>(length));
          load<S>(x, c * length, (c + 1) * length, row.data());
          y[c] = body(std::span<const S>(row));
        }
      }
    };
    parallel_for(channels, std::max<std::int64_t>(1, (1 << 15) / length), reduce);
    frame.output(0, y);
  }
};

struct Mean {
  template <class S>
  S operator()(std::span<const S> x) const {
    return mean(x);
  }
  double stored(const float* x, std::int64_t count) const {
    return row_kernels().sum_floats(x, count) / static_cast<double>(count);
  }
  double stored(const double* x, std::int64_t count) const {
    return row_kernels().sum_doubles(x, count) / static_cast<double>(count);
  }
};

struct Largest {
  template <class S>
  S operator()(std::span<const S> x) const {
    return maximum(x);
  }
  double stored(const float* x, std::int64_t count) const {
    return by_blocks(x, count, row_kernels().max_floats);
  }
  double stored(const double* x, std::int64_t count) const {
    return by_blocks(x, count, row_kernels().max_doubles);
  }

 private:
  template <class T, class Join>
  static double by_blocks(const T* x, std::int64_t count, Join join) {
    constexpr std::int64_t kBlock = 64;
    T tops[kBlock] = {};
    const std::int64_t first = std::min(count, kBlock);
    std::copy_n(x, first, tops);
    for (std::int64_t i = first; i < count; i += kBlock) {
      const T* const rows[2] = {tops, x + i};
      join(rows, 2, std::min(kBlock, count - i), tops);
    }
    double top = tops[0];
    for (std::int64_t i = 1; i < first; ++i) top = max(top, static_cast<double>(tops[i]));
    return top;
  }
};

void require_global(Check& c) {
  if (!c.rank("X", at_least(3))) return;
  const Dims& x = *c.dims("X");
  for (std::size_t d = 2; d < x.size(); ++d)
    if (!c.shape(!x[d].known() || x[d].value > 0, "not-empty", "spatial extents above 0",
                 to_text(x)))
      return;
}

void require_global_norm(Check& c) {
  require_norm(c);
  require_global(c);
}

void infer_global(Infer& n) {
  const Dims* x = n.dims(0);
  if (!x || x->size() < 2) return n.output(0, n.element(0));
  Dims y(x->size(), Dim(1));
  y[0] = (*x)[0];
  y[1] = (*x)[1];
  n.output(0, n.element(0), y);
}

// The last two axes, whatever the rank: at rank 3 the channels are among them.
void over_last_two_axes(Builder& b) {
  std::vector<std::int64_t> added;
  for (std::size_t d = 2; d < b.site().dims(0)->size(); ++d)
    added.push_back(-static_cast<std::int64_t>(d - 1));
  const std::string top =
      b("ReduceMax", {b.input(0), b.integers({-2, -1})}, {attribute("keepdims", 0)});
  b.output(0, b("Unsqueeze", {top, b.integers(added)}));
}

Operator global_average_pool() {
  return {.name = "GlobalAveragePool",
          .versions = {1, 22},
          .summary = "The mean of each channel.",
          .attributes = {},
          .require = require_global,
          .infer = infer_global,
          .align = align_global_pool,
          .meaning = compute<Global<Mean>>(Pattern::reduce)};
}

Operator global_max_pool() {
  return {.name = "GlobalMaxPool",
          .versions = {1, 22},
          .summary = "The largest element of each channel.",
          .attributes = {},
          .require = require_global,
          .infer = infer_global,
          .align = align_global_pool,
          .meaning = compute<Global<Largest>>(Pattern::reduce),
          .variants = {{"over-last-two-axes", Variant::Kind::defect, "onnx.reference up to 1.23",
                        over_last_two_axes}}};
}

Operator global_lp_pool() {
  return {.name = "GlobalLpPool",
          .versions = {1, 2, 22},
          .summary = "The p-norm of each channel.",
          .attributes = {{"p", Role::factor}},
          .require = require_global_norm,
          .infer = infer_global,
          .align = align_global_pool,
          .meaning = compute<Global<Norm>>(Pattern::reduce)};
}

}  // namespace

std::vector<Operator> global_pool_operators() {
  return {global_average_pool(), global_lp_pool(), global_max_pool()};
}

}  // namespace assay

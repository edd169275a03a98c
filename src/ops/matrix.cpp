// Matrix products.
#include <fmt/format.h>

#include "ops/families.h"
#include "patterns/contraction.h"

namespace assay {
namespace {

// A as [..., m, k] and B as [..., k, n]: a vector counts as a row on the left, a column on the right.
struct MatMulShape {
  Shape a, b, batch;
};

MatMulShape matmul_shape(Shape a, Shape b) {
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  const Shape outer_a(a.begin(), a.end() - 2), outer_b(b.begin(), b.end() - 2);
  return {a, b, *broadcast(outer_a, outer_b)};
}

// Start of each batch's matrix, with broadcast batches repeated.
std::vector<std::int64_t> batch_starts(const Shape& shape, const Shape& batch) {
  const Shape outer(shape.begin(), shape.end() - 2);
  const std::int64_t matrix = shape[shape.size() - 2] * shape[shape.size() - 1];
  const std::vector<std::int64_t> strides = broadcast_strides(outer, batch);
  std::vector<std::int64_t> starts;
  std::vector<std::int64_t> index(batch.size());
  const std::int64_t count = element_count(batch);
  for (std::int64_t t = 0; t < count; ++t) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < batch.size(); ++d) at += index[d] * strides[d];
    starts.push_back(at * matrix);
    for (std::size_t d = batch.size(); d-- > 0;) {
      if (++index[d] < batch[d]) break;
      index[d] = 0;
    }
  }
  return starts;
}

void evaluate_matmul(Call& call) {
  const MatMulShape s = matmul_shape(call.input(0).shape(), call.input(1).shape());
  Contraction form;
  form.m = s.a[s.a.size() - 2];
  form.k = s.a[s.a.size() - 1];
  form.n = s.b[s.b.size() - 1];
  form.a_row = form.k;
  form.b_row = form.n;
  form.a_column = form.b_column = 1;
  form.a = batch_starts(s.a, s.batch);
  form.b = batch_starts(s.b, s.batch);
  for (std::size_t t = 0; t < form.a.size(); ++t)
    form.c.push_back(static_cast<std::int64_t>(t) * form.m * form.n);
  call.outputs[0] = contract(call, call.input(0), call.input(1), form, call.output_type(0),
                             call.output_shape(0));
}

void require_matmul(Check& c) {
  if (!c.rank("A", at_least(1)) || !c.rank("B", at_least(1))) return;
  const Dims &a = *c.dims("A"), &b = *c.dims("B");
  const Dim& inner = a.back();
  c.extent("B", b.size() == 1 ? 0 : -2, inner, "the last extent of A");
  if (a.size() > 2 && b.size() > 2) {
    const Dims outer_a(a.begin(), a.end() - 2), outer_b(b.begin(), b.end() - 2);
    for (std::size_t d = 1; d <= std::min(outer_a.size(), outer_b.size()); ++d) {
      const Dim &x = outer_a[outer_a.size() - d], &y = outer_b[outer_b.size() - d];
      if (x.known() && y.known() && x.value != y.value && x.value != 1 && y.value != 1)
        c.that(false, "Inconsistent Input Shapes", "broadcast", to_text(outer_a), to_text(outer_b),
               kShapeBadness, fmt::format("MatMul cannot broadcast the batches {} and {}",
                                          to_text(outer_a), to_text(outer_b)));
    }
  }
}

void infer_matmul(Infer& n) {
  const Dims *a = n.dims(0), *b = n.dims(1);
  if (!a || !b) return n.output(0, n.element(0));
  const auto outer = [](const Dims& x) { return x.size() > 2 ? Dims(x.begin(), x.end() - 2) : Dims{}; };
  Dims y = broadcast_dims(outer(*a), outer(*b));
  if (a->size() > 1) y.push_back((*a)[a->size() - 2]);
  if (b->size() > 1) y.push_back(b->back());
  n.output(0, n.element(0), y);
}

Operator matmul() {
  return {.name = "MatMul",
          .versions = {1, 9, 13},
          .summary = "The matrix product of the last two axes; the others broadcast.",
          .attributes = {},
          .require = require_matmul,
          .infer = infer_matmul,
          .meaning = custom(Pattern::contraction, evaluate_matmul)};
}

}  // namespace

std::vector<Operator> matrix_operators() { return {matmul()}; }

}  // namespace assay

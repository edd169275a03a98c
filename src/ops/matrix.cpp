// Matrix products.
#include "ops/matrix.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "ops/alignment.h"
#include "ops/families.h"
#include "ops/window_checks.h"
#include "patterns/gemm.h"
#include "patterns/patches.h"
#include "scalar/watch.h"

namespace assay {
namespace {

// Start of each batch's matrix, with broadcast batches repeated.
std::vector<std::int64_t> batch_starts(const Shape& shape, const Shape& batch) {
  const Shape outer(shape.begin(), shape.end() - 2);
  const std::int64_t matrix = shape[shape.size() - 2] * shape[shape.size() - 1];
  const Shape strides = broadcast_strides(outer, batch);
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
  call.outputs[0] = contract(call, call.input(0), call.input(1),
                             matmul_form(call.input(0).shape(), call.input(1).shape()),
                             call.output_type(0), call.output_shape(0));
}

Operator matmul() {
  return {.name = "MatMul",
          .versions = {1, 9, 13},
          .summary = "The matrix product of the last two axes; the others broadcast.",
          .attributes = {},
          .require = [](Check& c) { require_matmul(c, "A", "B"); },
          .infer =
              [](Infer& n) {
                ValueType type = ValueType::tensor(n.element(0));
                type.dims = matmul_dims(n.dims(0), n.dims(1));
                n.output(0, std::move(type));
              },
          .align = align_matmul,
          .meaning = custom(Pattern::contraction, evaluate_matmul)};
}

// alpha A' B' + beta C.
struct Gemm {
  double alpha, beta;
  bool turn_a, turn_b;
  explicit Gemm(const Call& call)
      : alpha(call.site.real("alpha", 1)),
        beta(call.site.real("beta", 1)),
        turn_a(call.site.integer("transA") != 0),
        turn_b(call.site.integer("transB") != 0) {}

  template <class S>
  void operator()(Frame<S>& frame) const {
    const Shape shape = frame.output_shape(0);
    const std::int64_t m = shape[0], n = shape[1], k = frame.shape(0)[turn_a ? 0 : 1];
    Array<S> y(shape);
    if constexpr (Plain<S>)
      sums(frame, m, n, k, y);
    else
      enclosures(frame, m, n, k, y);
    frame.output(0, y);
  }

 private:
  // The elements of C as the m x n matrix that they are broadcast to.
  template <class S>
  static Array<S> broadcast_c(const Frame<S>& frame, std::int64_t m, std::int64_t n) {
    const Array<S> c = frame.input(2);
    const Shape strides = broadcast_strides(c.shape, Shape{m, n});
    Array<S> all(Shape{m, n});
    for (std::int64_t i = 0; i < m * n; ++i) all[i] = c[i / n * strides[0] + i % n * strides[1]];
    return all;
  }

  template <class S>
  S scaled(double factor, S x) const {
    if constexpr (std::is_same_v<S, double>) return factor * x;
    if (factor == std::floor(factor) && std::abs(factor) < 0x1p62)
      return constant<S>(static_cast<std::int64_t>(factor)) * x;
    // The standard leaves open what a fraction of an integer is: cut toward zero.
    return constant<S>(std::trunc(factor * static_cast<double>(x)));
  }

  template <class S>
  void sums(const Frame<S>& frame, std::int64_t m, std::int64_t n, std::int64_t k,
            Array<S>& y) const {
    if constexpr (std::is_same_v<S, double>) {
      std::vector<double> keep_a, keep_b;
      const Elements a = elements_of(frame.call().input(0).tensor(), keep_a);
      const Elements b = elements_of(frame.call().input(1).tensor(), keep_b);
      gemm(m, n, k, {a.data, a.is_float, turn_a ? 1 : k, turn_a ? m : 1},
           {b.data, b.is_float, turn_b ? 1 : n, turn_b ? k : 1}, y.data.data(), n);
    } else {
      const Array<S> a = frame.input(0), b = frame.input(1);
      multiply<S>(m, n, k, {a.data.data(), turn_a ? 1 : k, turn_a ? m : 1},
                  {b.data.data(), turn_b ? 1 : n, turn_b ? k : 1}, y.data.data());
    }
    if (alpha != 1)
      for (S& element : y.data) element = scaled(alpha, element);
    if (!frame.has(2)) return;
    const Array<S> c = frame.input(2);
    const Shape strides = broadcast_strides(c.shape, Shape{m, n});
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        y[i * n + j] = y[i * n + j] + scaled(beta, c[i * strides[0] + j * strides[1]]);
  }

  // beta C enters as further terms of the sums, (alpha A' | I) (B' over beta C), so that the bounds
  // hold wherever it is added; one term does if its rows are equal.
  template <class S>
  void enclosures(const Frame<S>& frame, std::int64_t m, std::int64_t n, std::int64_t k,
                  Array<S>& y) const {
    const Array<S> a = frame.input(0), b = frame.input(1);
    const bool biased = frame.has(2);
    const Shape c_shape = biased ? frame.shape(2) : Shape{};
    const bool equal_rows = c_shape.size() < 2 || c_shape[0] == 1;
    const std::int64_t more = !biased ? 0 : equal_rows ? 1 : m, rows = k + more;
    Array<S> left(Shape{m, rows}), right(Shape{rows, n});
    const S factor = constant<S>(alpha), one = constant<S>(1.0);
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t t = 0; t < k; ++t) {
        const S& element = a[turn_a ? t * m + i : i * k + t];
        left[i * rows + t] = alpha == 1 ? element : factor * element;
      }
      if (biased) left[i * rows + k + (equal_rows ? 0 : i)] = one;
    }
    for (std::int64_t t = 0; t < k; ++t)
      for (std::int64_t j = 0; j < n; ++j) right[t * n + j] = b[turn_b ? j * k + t : t * n + j];
    if (biased && m > 0) {
      const Array<S> c = broadcast_c(frame, m, n);
      for (std::int64_t i = 0; i < more * n; ++i)
        right[k * n + i] = beta == 1 ? c[i] : constant<S>(beta) * c[i];
    }
    const std::optional<Counts> counted = counts_of_sums(k, 1, more);
    std::optional<CountsScope> scope;
    if (counted) scope.emplace(*counted);
    multiply<S>(m, n, rows, {left.data.data(), rows, 1}, {right.data.data(), n, 1}, y.data.data());
    const bool whole = alpha == std::floor(alpha) && beta == std::floor(beta);
    if (whole || is_real(frame.call().output_type(0))) return;
    for (S& element : y.data) loosen(element);
  }

  // Each of two fractions of an integer is cut toward zero.
  static void loosen(Interval& x) { x = {x.low - 2, x.high + 2, x.nan}; }
  static void loosen(Bounded& x) { x.error += 2; }
};

// Below version 7, C has the shape of the result unless `broadcast` says otherwise.
void require_c(Check& c, const Dims& result) {
  if (!c.index_of("C")) return;
  const Dims* own = c.dims("C");
  if (!own) return c.undecided("broadcasts-to", "the rank of C");
  const bool strict = c.site.version() < 7 && c.site.integer("broadcast") == 0;
  bool fits = strict ? own->size() == 2 : own->size() <= 2;
  for (std::size_t d = 1; fits && d <= own->size(); ++d) {
    const Dim &x = (*own)[own->size() - d], &y = result[2 - d];
    fits = !x.differs_from(y) || (!strict && x.value == 1);
    if (!x.same_as(y) && !(x.known() && y.known()) && !(x.known() && x.value == 1))
      c.undecided("broadcasts-to", "the extents of C and of the result");
  }
  c.that(fits, "Inconsistent Input Shapes", "broadcasts-to", to_text(result), to_text(*own),
         kShapeBadness,
         fmt::format("Gemm needs C to {} the shape {} of the product, but it has shape {}",
                     strict ? "have" : "broadcast to", to_text(result), to_text(*own)));
}

void require_gemm(Check& c) {
  const bool a_good = c.rank("A", exactly(2)), b_good = c.rank("B", exactly(2));
  if (!a_good || !b_good) return;
  const bool turn_a = c.site.integer("transA") != 0, turn_b = c.site.integer("transB") != 0;
  const Dims &a = *c.dims("A"), &b = *c.dims("B");
  c.extent("B", turn_b ? 1 : 0, a[turn_a ? 0 : 1], "the inner extent of A");
  const Dims result = {a[turn_a ? 1 : 0], b[turn_b ? 0 : 1]};
  require_c(c, result);
  require_size(c, result);
}

void infer_gemm(Infer& n) {
  const Dims *a = n.dims(0), *b = n.dims(1);
  const bool turn_a = n.site.integer("transA") != 0, turn_b = n.site.integer("transB") != 0;
  n.output(0, n.element(0),
           {a && a->size() == 2 ? (*a)[turn_a ? 1 : 0] : Dim(),
            b && b->size() == 2 ? (*b)[turn_b ? 0 : 1] : Dim()});
}

// What beta = 0 multiplies is not looked at, as in the BLAS: NaN and infinities in C vanish.
void zero_beta_drops_c(Builder& b) {
  if (b.site().real("beta", 1) != 0 || !b.has(2)) return b.output(0, b.again().front());
  std::vector<Attribute> attributes;
  for (const Attribute& given : b.site().node().attributes)
    if (given.name != "beta" && given.name != "broadcast") attributes.push_back(given);
  b.output(0, b("Gemm", {b.input(0), b.input(1)}, attributes));
}

Operator gemm_operator() {
  return {.name = "Gemm",
          .versions = {1, 6, 7, 9, 11, 13},
          .summary = "alpha A B + beta C, A and B transposed if so asked.",
          .attributes = {{"alpha", Role::factor},
                         {"beta", Role::factor},
                         {"broadcast", Role::flag},
                         {"transA", Role::flag},
                         {"transB", Role::flag}},
          .require = require_gemm,
          .infer = infer_gemm,
          .align = align_gemm,
          .meaning = compute<Gemm, RealsAndIntegers>(Pattern::contraction),
          .variants = {{"zero-beta-drops-c", Variant::Kind::difference,
                        "ONNX Runtime and everything else that calls a BLAS", zero_beta_drops_c}}};
}

}  // namespace

Contraction matmul_form(const Shape& a_shape, const Shape& b_shape) {
  Shape a = a_shape, b = b_shape;
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  Shape outer_a(a.begin(), a.end() - 2);
  const Shape outer_b(b.begin(), b.end() - 2);
  // One matrix on the right serves all rows of all batches.
  if (element_count(outer_b) == 1 && outer_b.size() <= outer_a.size()) {
    a = {element_count(outer_a) * a[a.size() - 2], a.back()};
    b = {b[b.size() - 2], b.back()};
    outer_a.clear();
  }
  const Shape batch = *broadcast(outer_a, Shape(b.begin(), b.end() - 2));
  Contraction form;
  form.m = a[a.size() - 2];
  form.k = form.a_row = a.back();
  form.n = form.b_row = b.back();
  form.a_column = form.b_column = 1;
  form.a = batch_starts(a, batch);
  form.b = batch_starts(b, batch);
  for (std::size_t t = 0; t < form.a.size(); ++t)
    form.c.push_back(static_cast<std::int64_t>(t) * form.m * form.n);
  return form;
}

std::optional<Dims> matmul_dims(const Dims* a, const Dims* b) {
  if (!a || !b) return std::nullopt;
  const auto outer = [](const Dims& x) {
    return x.size() > 2 ? Dims(x.begin(), x.end() - 2) : Dims{};
  };
  Dims y = broadcast_dims(outer(*a), outer(*b));
  if (a->size() > 1) y.push_back((*a)[a->size() - 2]);
  if (b->size() > 1) y.push_back(b->back());
  return y;
}

bool require_matmul(Check& c, std::string_view a_name, std::string_view b_name) {
  if (!c.rank(a_name, at_least(1)) || !c.rank(b_name, at_least(1))) return false;
  const Dims &a = *c.dims(a_name), &b = *c.dims(b_name);
  bool good = c.extent(b_name, b.size() == 1 ? 0 : -2, a.back(),
                       fmt::format("the last extent of {}", a_name));
  for (std::size_t d = 3; d <= std::min(a.size(), b.size()); ++d) {
    const Dim &x = a[a.size() - d], &y = b[b.size() - d];
    if (x.differs_from(y) && x.value != 1 && y.value != 1)
      return c.that(false, "Inconsistent Input Shapes", "broadcast", to_text(a), to_text(b),
                    kShapeBadness,
                    fmt::format("{} cannot broadcast the batches of {} and {}", c.site.node().op,
                                to_text(a), to_text(b)));
    if (x.same_as(y) || (x.known() && (y.known() || x.value == 1)) || (y.known() && y.value == 1))
      continue;
    c.undecided("broadcast", fmt::format("the batches of {} and {}", a_name, b_name));
    good = false;
  }
  return require_size(c, *matmul_dims(&a, &b)) && good;
}

std::vector<Operator> matrix_operators() {
  std::vector<Operator> all = {gemm_operator(), matmul()};
  for (const std::vector<Operator>& more :
       {quantized_matrix_operators(), einsum_operators(), determinant_operators()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace assay

// Matrix products of integers around zero points.
#include <algorithm>

#include <fmt/format.h>

#include "ops/matrix.h"
#include "ops/requantize.h"
#include "ops/window_checks.h"

namespace assay {
namespace {

// Where a scale or zero point stands for an element of its matrix: one number, a vector with one a
// row (left) or a column (right), or a tensor that broadcasts.
Shape aligned_shape(const Shape& own, const Shape& matrix, bool left) {
  if (own.size() == 1 && own[0] != 1 && left && matrix.size() > 1) return {own[0], 1};
  return own;
}

template <class S>
class Spread {
 public:
  Spread(const Array<S>& own, const Shape& matrix, bool left)
      : own_(own),
        matrix_(matrix),
        strides_(broadcast_strides(aligned_shape(own.shape, matrix, left), matrix)) {}
  const S& at(std::int64_t i) const {
    if (own_.size() == 1) return own_[0];
    std::int64_t place = 0;
    for (std::size_t d = matrix_.size(); d-- > 0; i /= matrix_[d])
      place += i % matrix_[d] * strides_[d];
    return own_[place];
  }

 private:
  const Array<S>& own_;
  Shape matrix_;
  std::vector<std::int64_t> strides_;
};

template <class S>
Array<S> shifted(const Frame<S>& frame, std::size_t x, std::size_t zero_point, bool left) {
  Array<S> values = frame.input(x);
  if (!frame.has(zero_point)) return values;
  const Array<S> zeros = frame.input(zero_point);
  const Spread<S> spread(zeros, values.shape, left);
  for (std::int64_t i = 0; i < values.size(); ++i) values[i] = values[i] - spread.at(i);
  return values;
}

bool is_point(const Bounded& x) { return x.error == 0; }
bool is_point(const Interval& x) { return x.low == x.high && !x.nan; }

// The product of matrices of integers, exact where they are. Floats of 8 bits are sums of few bits
// too, but far apart, so that their sums may round.
template <class S>
Array<S> product_of(const Array<S>& a, const Array<S>& b, Shape shape) {
  const Contraction form = matmul_form(a.shape, b.shape);
  Array<S> y(std::move(shape));
  const auto multiply_all = [&]<class T>(const T* left, const T* right, T* out) {
    for (std::size_t t = 0; t < form.c.size(); ++t)
      multiply<T>(form.m, form.n, form.k, {left + form.a[t], form.a_row, form.a_column},
                  {right + form.b[t], form.b_row, form.b_column}, out + form.c[t]);
  };
  if constexpr (std::is_same_v<S, double>) {
    multiply_all(a.data.data(), b.data.data(), y.data.data());
  } else {
    const auto point = [](const S& x) { return is_point(x); };
    const bool exact = std::all_of(a.data.begin(), a.data.end(), point) &&
                       std::all_of(b.data.begin(), b.data.end(), point);
    if (!exact || !(rounding().unit <= Rounding::exact().unit)) {
      multiply_all(a.data.data(), b.data.data(), y.data.data());
      return y;
    }
    std::vector<double> left, right, out(y.data.size());
    for (const S& x : a.data) left.push_back(to_double(x));
    for (const S& x : b.data) right.push_back(to_double(x));
    multiply_all(left.data(), right.data(), out.data());
    for (std::size_t i = 0; i < out.size(); ++i) y.data[i] = from_exact<S>(out[i]);
  }
  return y;
}

struct MatMulInteger {
  template <class S>
  void operator()(Frame<S>& frame) const {
    const Array<S> a = shifted(frame, 0, 2, true), b = shifted(frame, 1, 3, false);
    frame.output(0, product_of(a, b, frame.output_shape(0)));
  }
};

struct QLinearMatMul {
  template <class S>
  void operator()(Frame<S>& frame) const {
    const ElementType scale = frame.call().input(1).type(), type = frame.call().output_type(0);
    const bool integers = !is_real(frame.call().input(0).type());
    Array<S> y;
    {
      const RoundingScope scope(integers ? Rounding::exact() : rounding_of(ElementType::f32));
      y = product_of(shifted(frame, 0, 2, true), shifted(frame, 3, 5, false),
                     frame.output_shape(0));
    }
    const Array<S> a_scale = frame.input(1), b_scale = frame.input(4);
    const Array<S> y_scale = frame.input(6), y_zero = frame.input(7);
    // Rows and columns of the result are those of a and b.
    const Spread<S> rows(a_scale, y.shape, frame.shape(0).size() > 1);
    const Spread<S> columns(b_scale, y.shape, false);
    const Spread<S> y_scales(y_scale, y.shape, true), zeros(y_zero, y.shape, true);
    for (std::int64_t i = 0; i < y.size(); ++i)
      y[i] = requantized(y[i], rows.at(i), columns.at(i), y_scales.at(i), zeros.at(i), scale, type);
    frame.output(0, y);
  }
};

// One number; a vector with one a row or column; or a tensor with one for each row or column of
// each batch.
void require_parameter(Check& c, std::string_view input, const Dims& matrix, bool left) {
  const Dims* own = c.dims(input);
  if (!c.index_of(input)) return;
  if (!own) return c.undecided("parameter-shape", fmt::format("the rank of {}", input));
  const auto one = [](const Dim& d) { return d.known() && d.value == 1; };
  if (std::all_of(own->begin(), own->end(), one) && own->size() <= 1) return;
  const std::size_t rank = matrix.size(), kept = left ? rank - 2 : rank - 1;
  bool fits = rank > 1 && (own->size() == 1 || own->size() == rank);
  if (fits && own->size() == 1) {
    fits = !(*own)[0].differs_from(matrix[kept]);
  } else if (fits) {
    for (std::size_t d = 0; d < rank; ++d) {
      const bool varies = d + 2 < rank || d == kept;
      fits = fits && (one((*own)[d]) || (varies && !(*own)[d].differs_from(matrix[d])));
    }
  }
  c.shape(fits, "parameter-shape",
          fmt::format("{} with one number, or one for each {}", input, left ? "row" : "column"),
          to_text(*own));
}

void require_same_parameters(Check& c, std::string_view scale, std::string_view zero_point) {
  c.same_shape(scale, zero_point);
}

void require_matmul_integer(Check& c) {
  if (!require_matmul(c, "A", "B")) return;
  require_parameter(c, "a_zero_point", *c.dims("A"), true);
  require_parameter(c, "b_zero_point", *c.dims("B"), false);
}

void require_qlinear_matmul(Check& c) {
  if (!require_matmul(c, "a", "b")) return;
  require_parameter(c, "a_scale", *c.dims("a"), true);
  require_parameter(c, "b_scale", *c.dims("b"), false);
  const Dims result = *matmul_dims(c.dims("a"), c.dims("b"));
  require_parameter(c, "y_scale", result, true);
  require_same_parameters(c, "a_scale", "a_zero_point");
  require_same_parameters(c, "b_scale", "b_zero_point");
  require_same_parameters(c, "y_scale", "y_zero_point");
}

void infer_product(Infer& n, std::size_t a, std::size_t b, ElementType type) {
  ValueType result = ValueType::tensor(type);
  result.dims = matmul_dims(n.dims(a), n.dims(b));
  n.output(0, std::move(result));
}

void zero_point_before_rounding(Builder& b) {
  const Site& site = b.site();
  const auto single = [&](std::size_t i) {
    return product(*site.dims(i), 0, site.dims(i)->size()).same_as(1);
  };
  if (is_real(site.element(0)) || !single(1) || !single(4) || !single(6))
    return b.output(0, b.again().front());
  const auto real = [&](std::size_t i) {
    return b("Cast", {b.input(i)}, {attribute("to", static_cast<std::int64_t>(ElementType::f32))});
  };
  const std::string sums = b("MatMulInteger", {b.input(0), b.input(3), b.input(2), b.input(5)});
  b.output(0, rounded_after_zero_point(b, sums, b("Mul", {real(1), real(4)}), b.input(6),
                                       b.input(7), site.element(7)));
}

Operator matmul_integer() {
  return {.name = "MatMulInteger",
          .versions = {10},
          .summary = "The matrix product of integers around zero points, in 32 bits.",
          .attributes = {},
          .require = require_matmul_integer,
          .infer = [](Infer& n) { infer_product(n, 0, 1, ElementType::i32); },
          .meaning = compute<MatMulInteger>(Pattern::contraction)};
}

Operator qlinear_matmul() {
  return {.name = "QLinearMatMul",
          .versions = {10, 21},
          .summary = "The matrix product of quantized numbers, quantized again.",
          .attributes = {},
          .require = require_qlinear_matmul,
          .infer = [](Infer& n) { infer_product(n, 0, 3, n.element(7)); },
          .meaning = compute<QLinearMatMul>(Pattern::contraction),
          .variants = {{"zero-point-before-rounding", Variant::Kind::difference, "onnx.reference",
                        zero_point_before_rounding}}};
}

}  // namespace

std::vector<Operator> quantized_matrix_operators() { return {matmul_integer(), qlinear_matmul()}; }

}  // namespace assay

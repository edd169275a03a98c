#include "patterns/contraction.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "patterns/gemm.h"
#include "scalar/watch.h"
#include "tensor/convert.h"
#include "tensor/finite.h"

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Terms of sums of ranges of which every product is looked at: midpoints and radii forget signs.
constexpr std::int64_t kFewTerms = 1 << 11;
constexpr double kUp = 1 + 0x1p-48;  // covers the rounding of the error terms themselves

// A dense copy of one component of a matrix of structs.
template <class S, class Get>
std::vector<double> component(std::int64_t rows, std::int64_t columns, Matrix<S> x, Get get) {
  std::vector<double> result(static_cast<std::size_t>(rows * columns));
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      result[static_cast<std::size_t>(i * columns + j)] =
          get(x.data[i * x.row_stride + j * x.column_stride]);
  return result;
}

std::vector<double> dense_product(std::int64_t m, std::int64_t n, std::int64_t k,
                                  const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> c(static_cast<std::size_t>(m * n));
  gemm(m, n, k, {a.data(), false, k, 1}, {b.data(), false, n, 1}, c.data(), n);
  return c;
}

bool any_nonzero(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double x) { return x != 0; });
}

void add_into(std::vector<double>& sum, const std::vector<double>& more) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
}

// Row by column with the vocabulary's dot: right for every special value, slow.
template <class S>
void multiply_by_dots(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<S> a, Matrix<S> b,
                      S* c) {
  std::vector<S> row(static_cast<std::size_t>(k)), column(static_cast<std::size_t>(k));
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t t = 0; t < k; ++t)
      column[static_cast<std::size_t>(t)] = b.data[t * b.row_stride + j * b.column_stride];
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t t = 0; t < k; ++t)
        row[static_cast<std::size_t>(t)] = a.data[i * a.row_stride + t * a.column_stride];
      c[i * n + j] = dot(std::span<const S>(row), std::span<const S>(column));
    }
  }
}

double magnitude(double x) { return std::abs(x); }

}  // namespace

template <>
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<double> a, Matrix<double> b,
              double* c) {
  gemm(m, n, k, {a.data, false, a.row_stride, a.column_stride},
       {b.data, false, b.row_stride, b.column_stride}, c, n);
}

// Three products: of the values, of the magnitudes, and of the errors if there are any.
template <>
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<Bounded> a, Matrix<Bounded> b,
              Bounded* c) {
  auto av = component(m, k, a, [](const Bounded& x) { return x.value; });
  auto bv = component(k, n, b, [](const Bounded& x) { return x.value; });
  const auto ae = component(m, k, a, [](const Bounded& x) { return flushed(x).error; });
  const auto be = component(k, n, b, [](const Bounded& x) { return flushed(x).error; });
  if (!all_finite<double>(av) || !all_finite<double>(bv) || !all_finite<double>(ae) ||
      !all_finite<double>(be))
    return multiply_by_dots(m, n, k, a, b, c);
  const std::vector<double> values = dense_product(m, n, k, av, bv);
  std::transform(av.begin(), av.end(), av.begin(), magnitude);
  std::transform(bv.begin(), bv.end(), bv.begin(), magnitude);
  std::vector<double> inherited(values.size());
  if (any_nonzero(be)) add_into(inherited, dense_product(m, n, k, av, be));
  if (any_nonzero(ae)) {
    std::vector<double> reach = bv;
    add_into(reach, be);
    add_into(inherited, dense_product(m, n, k, ae, reach));
  }
  const std::vector<double> magnitudes = dense_product(m, n, k, av, bv);
  const auto terms = static_cast<std::size_t>(k);
  const double gamma = rounding().accumulation(terms) + 0x1p-52 * static_cast<double>(k);
  const double flush = rounding().flushes_subnormals ? rounding().smallest_normal : 0;
  const double tiny = (rounding().tiny + flush) * static_cast<double>(2 * k);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double size = magnitudes[i] + inherited[i];
    const double error = size == 0 ? 0 : (inherited[i] + gamma * size + tiny) * kUp;
    c[i] = std::isfinite(error) ? settle(values[i], error) : Bounded::anything(values[i]);
  }
}

namespace {

// A matrix whose terms stand for several, as the sums of these.
std::vector<Interval> repeated_terms(const Counts& counted, std::int64_t m, Matrix<Interval> a) {
  std::vector<Interval> sums;
  sums.reserve(static_cast<std::size_t>(m) * counted.of.size());
  for (std::int64_t i = 0; i < m; ++i) {
    const Interval* term = a.data + i * a.row_stride;
    for (const auto& count : counted.of) {
      sums.push_back(repeated(*term, count));
      term += a.column_stride;
    }
  }
  return sums;
}

}  // namespace

// Midpoints and radii: mid ± (|mid A| rad B + rad A (|mid B| + rad B)), and rounding on top. Of
// terms that stand for several, A has the sums.
template <>
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<Interval> a,
              Matrix<Interval> b, Interval* c) {
  const auto middle = [](const Interval& x) {
    return x.nan ? kInfinity : x.low + (x.high - x.low) / 2;
  };
  const auto radius = [](const Interval& x) {
    const double mid = x.low + (x.high - x.low) / 2;
    return x.low == x.high ? 0.0 : std::max(x.high - mid, mid - x.low) * kUp;
  };
  const Counts* const counted = counts_of(static_cast<std::size_t>(k));
  std::vector<Interval> sums;
  if (counted) sums = repeated_terms(*counted, m, a);
  const Matrix<Interval> left = counted ? Matrix<Interval>{sums.data(), k, 1} : a;
  auto am = component(m, k, left, middle), bm = component(k, n, b, middle);
  const auto ar = component(m, k, left, radius), br = component(k, n, b, radius);
  const bool signs_may_count = m * n * k <= kFewTerms && (any_nonzero(ar) || any_nonzero(br));
  if (signs_may_count || !all_finite<double>(am) || !all_finite<double>(bm) ||
      !all_finite<double>(ar) || !all_finite<double>(br))
    return multiply_by_dots(m, n, k, a, b, c);
  const std::vector<double> mid = dense_product(m, n, k, am, bm);
  std::transform(am.begin(), am.end(), am.begin(), magnitude);
  std::transform(bm.begin(), bm.end(), bm.begin(), magnitude);
  std::vector<double> rad = dense_product(m, n, k, am, br);
  std::vector<double> reach = bm;
  add_into(reach, br);
  add_into(rad, dense_product(m, n, k, ar, reach));
  const std::vector<double> magnitudes = dense_product(m, n, k, am, bm);
  const double terms = counted ? counted->most : static_cast<double>(k);
  const double gamma = rounding().accumulation(static_cast<std::size_t>(terms)) + 0x1p-50 * terms;
  const double tiny = rounding().tiny * 2 * terms;
  for (std::size_t i = 0; i < mid.size(); ++i) {
    const double size = magnitudes[i] + rad[i];
    const double slack = size == 0 ? 0 : (rad[i] + gamma * size + tiny) * kUp;
    const bool overflows = !(std::abs(mid[i]) + slack <= rounding().largest);
    c[i] = overflows ? Interval::everything() : Interval{mid[i] - slack, mid[i] + slack, false};
    if (!overflows && slack > 0) {
      c[i].low = std::nextafter(c[i].low, -kInfinity);
      c[i].high = std::nextafter(c[i].high, kInfinity);
    }
  }
}

template <>
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<std::int64_t> a,
              Matrix<std::int64_t> b, std::int64_t* c) {
  multiply_by_dots(m, n, k, a, b, c);
}

template <>
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<std::uint64_t> a,
              Matrix<std::uint64_t> b, std::uint64_t* c) {
  multiply_by_dots(m, n, k, a, b, c);
}

namespace {

// The stored elements if they are plain floats, else a converted copy that `keep` holds.
MatrixView view_of(const Tensor& tensor, std::vector<double>& keep) {
  const Storage storage = storage_of(tensor.type());
  if (storage == Storage::f32 || storage == Storage::f64)
    return {tensor.raw(), storage == Storage::f32, 0, 0};
  keep = load<double>(Value(tensor)).data;
  return {keep.data(), false, 0, 0};
}

MatrixView at(MatrixView view, std::int64_t offset, std::int64_t row, std::int64_t column) {
  view.data = static_cast<const char*>(view.data) +
              offset * static_cast<std::int64_t>(view.is_float ? sizeof(float) : sizeof(double));
  view.row_stride = row;
  view.column_stride = column;
  return view;
}

// Integers whose products and sums are all exact in double may use its product.
bool fits_double(ElementType type) { return bit_width(type) <= 16; }

// Rows of a product whose results are computed before they are stored: what the second cache holds.
std::int64_t rows_at_once(const Contraction& form) {
  constexpr std::int64_t kResults = std::int64_t{1} << 17;
  return std::clamp<std::int64_t>(kResults / std::max<std::int64_t>(form.n, 1), 128,
                                  std::max<std::int64_t>(form.m, 128));
}

Value contract_stored(const Value& a, const Value& b, const Contraction& form, ElementType type,
                      const Shape& shape) {
  std::vector<double> keep_a, keep_b;
  const MatrixView left = view_of(a.tensor(), keep_a), right = view_of(b.tensor(), keep_b);
  Tensor result = Tensor::uninitialized(type, shape);
  char* const out = static_cast<char*>(result.mutable_raw());
  const auto element = static_cast<std::int64_t>(storage_size(type));
  const std::int64_t height = rows_at_once(form), blocks = (form.m + height - 1) / height;
  const std::int64_t work = std::max<std::int64_t>(1, std::min(height, form.m) * form.n * form.k);
  parallel_for(
      static_cast<std::int64_t>(form.c.size()) * blocks,
      std::max<std::int64_t>(1, (1 << 18) / work), [&](std::int64_t begin, std::int64_t end) {
        thread_local std::vector<double> c;
        for (std::int64_t t = begin; t < end; ++t) {
          const auto i = static_cast<std::size_t>(t / blocks);
          const std::int64_t row = t % blocks * height;
          const std::int64_t rows = std::min(height, form.m - row);
          c.resize(std::max(c.size(), static_cast<std::size_t>(rows * form.n)));
          gemm(rows, form.n, form.k,
               at(left, form.a[i] + row * form.a_row, form.a_row, form.a_column),
               at(right, form.b[i], form.b_row, form.b_column), c.data(), form.n);
          from_doubles(type, c.data(), rows * form.n, out + (form.c[i] + row * form.n) * element);
        }
      });
  return result;
}

template <class S>
Value contract_as(const Value& a, const Value& b, const Contraction& form, ElementType type,
                  const Shape& shape) {
  const Array<S> left = load<S>(a), right = load<S>(b);
  Array<S> result(shape);
  const RoundingScope scope(rounding_of(type));
  for (std::size_t t = 0; t < form.c.size(); ++t)
    multiply<S>(form.m, form.n, form.k, {left.data.data() + form.a[t], form.a_row, form.a_column},
                {right.data.data() + form.b[t], form.b_row, form.b_column},
                result.data.data() + form.c[t]);
  return settle(type, result);
}

}  // namespace

Value contract(const Call& call, const Value& a, const Value& b, const Contraction& form,
               ElementType type, const Shape& shape) {
  const bool real = is_real(a.type()) || is_real(b.type());
  const bool exact = a.exact() && b.exact();
  if (real && call.reading == Reading::value) return contract_stored(a, b, form, type, shape);
  if (!real && (exact || call.reading == Reading::value)) {
    if (fits_double(a.type()) && fits_double(b.type()))
      return contract_stored(a, b, form, type, shape);
    const bool natural = domain_of(type) == Domain::unsigned_integer;
    return natural ? contract_as<std::uint64_t>(a, b, form, type, shape)
                   : contract_as<std::int64_t>(a, b, form, type, shape);
  }
  if (call.reading == Reading::bounded) return contract_as<Bounded>(a, b, form, type, shape);
  return contract_as<Interval>(a, b, form, type, shape);
}

}  // namespace assay

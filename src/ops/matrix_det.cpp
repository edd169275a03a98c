// Determinants.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/matrix.h"

namespace assay {
namespace {

// A determinant in double and, per row, the length of the row of |L||U|: rounding acts like a
// change of the matrix by a few units of it.
struct Elimination {
  double determinant = 1;
  std::vector<double> growth;
};

Elimination eliminate(std::vector<double> a, std::size_t n) {
  Elimination result;
  result.growth.assign(n, 0);
  if (n == 2) result.determinant = a[0] * a[3] - a[1] * a[2];
  std::vector<std::size_t> rows(n);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::vector<double> sizes(n * n);
  for (std::size_t i = 0; i < n * n; ++i) sizes[i] = std::abs(a[i]);
  double determinant = 1;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t top = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(a[i * n + k]) > std::abs(a[top * n + k]) || std::isnan(a[i * n + k])) top = i;
    if (top != k) {
      std::swap_ranges(a.begin() + static_cast<std::ptrdiff_t>(k * n),
                       a.begin() + static_cast<std::ptrdiff_t>(k * n + n),
                       a.begin() + static_cast<std::ptrdiff_t>(top * n));
      std::swap(rows[k], rows[top]);
      determinant = -determinant;
    }
    const double pivot = a[k * n + k];
    determinant *= pivot;
    if (pivot == 0) continue;
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / pivot;
      for (std::size_t j = k + 1; j < n; ++j) {
        a[i * n + j] -= factor * a[k * n + j];
        sizes[rows[i] * n + j] += std::abs(factor * a[k * n + j]) + std::abs(a[i * n + j]);
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i)
    result.growth[i] =
        std::sqrt(std::inner_product(sizes.begin() + static_cast<std::ptrdiff_t>(i * n),
                                     sizes.begin() + static_cast<std::ptrdiff_t>(i * n + n),
                                     sizes.begin() + static_cast<std::ptrdiff_t>(i * n), 0.0));
  if (n != 2) result.determinant = determinant;
  return result;
}

double middle(const Bounded& x) { return x.value; }
double spread(const Bounded& x) { return x.error; }
double middle(const Interval& x) {
  return x.nan || !x.has_number() ? std::nan("") : x.low + (x.high - x.low) / 2;
}
double spread(const Interval& x) {
  const double mid = middle(x);
  return x.low == x.high ? 0 : std::max(x.high - mid, mid - x.low) * (1 + 0x1p-50);
}

// A determinant is linear in each row, and by Hadamard at most the product of the rows' lengths: a
// change of rows by e moves it by Π(|a| + |e|) - Π|a| at most.
template <class S>
S enclosed_determinant(std::span<const S> x, std::size_t n) {
  std::vector<double> a(n * n);
  for (std::size_t i = 0; i < n * n; ++i) a[i] = middle(x[i]);
  const Elimination exact = eliminate(a, n);
  const Rounding& rules = rounding();
  const double gamma = rules.accumulation(8 * n) + 0x1p-48 * static_cast<double>(n);
  double without = 1, with = 1;
  for (std::size_t i = 0; i < n; ++i) {
    double length = 0, change = 0;
    for (std::size_t j = 0; j < n; ++j) {
      length += a[i * n + j] * a[i * n + j];
      change += spread(x[i * n + j]) * spread(x[i * n + j]);
    }
    length = std::sqrt(length);
    without *= length;
    with *= length + std::sqrt(change) + gamma * exact.growth[i] +
            4 * static_cast<double>(n) * rules.tiny;
  }
  const double error = with == 0 ? 0 : (with - without + gamma * with) * (1 + 0x1p-40);
  const bool safe =
      std::isfinite(with) && std::isfinite(exact.determinant) && with <= rules.largest;
  if constexpr (std::is_same_v<S, Bounded>) {
    return safe ? settle(exact.determinant, error) : Bounded::anything(exact.determinant);
  } else {
    return safe ? Interval{exact.determinant - error, exact.determinant + error, false}
                : Interval::everything();
  }
}

struct Det {
  template <class S>
  void operator()(Frame<S>& frame) const {
    const Array<S> x = frame.input(0);
    Array<S> y(frame.output_shape(0));
    const auto n = static_cast<std::size_t>(x.shape.back());
    for (std::size_t t = 0; t < y.data.size(); ++t) {
      const std::span<const S> matrix = std::span<const S>(x.data).subspan(t * n * n, n * n);
      if constexpr (std::is_same_v<S, double>)
        y.data[t] = eliminate(std::vector<double>(matrix.begin(), matrix.end()), n).determinant;
      else
        y.data[t] = enclosed_determinant(matrix, n);
    }
    frame.output(0, y);
  }
};

Operator det() {
  return {.name = "Det",
          .versions = {11, 22},
          .summary = "The determinant of each matrix in the last two axes.",
          .attributes = {},
          .require =
              [](Check& c) {
                if (c.rank("X", at_least(2)))
                  c.extent("X", -1, (*c.dims("X"))[c.dims("X")->size() - 2],
                           "as many columns as rows");
              },
          .infer =
              [](Infer& n) {
                const Dims* x = n.dims(0);
                if (!x || x->size() < 2) return n.output(0, n.element(0));
                n.output(0, n.element(0), Dims(x->begin(), x->end() - 2));
              },
          .meaning = compute<Det>(Pattern::contraction)};
}

}  // namespace

std::vector<Operator> determinant_operators() { return {det()}; }

}  // namespace assay

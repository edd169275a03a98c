#include "ops/signal_fourier.h"

#include <cmath>
#include <complex>
#include <numbers>
#include <span>

namespace assay {
namespace {

using Complex = std::complex<double>;

// Up to this length sums are taken as they are written.
constexpr std::size_t kDirect = 64;

// exp(2 pi i k / n), exact on the axes.
Complex root(std::int64_t k, std::int64_t n) {
  k %= n;
  if (4 * k % n == 0) {
    constexpr Complex kAxes[4] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    return kAxes[4 * k / n];
  }
  const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
  return {std::cos(angle), std::sin(angle)};
}

// In place, for lengths that are powers of two: exponents of the sign of `direction`.
void power_of_two_transform(std::vector<Complex>& x, int direction) {
  const std::size_t n = x.size();
  for (std::size_t i = 1, j = 0; i < n; ++i) {
    std::size_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  std::vector<Complex> roots(n / 2);
  for (std::size_t k = 0; k < roots.size(); ++k) {
    roots[k] = root(static_cast<std::int64_t>(k), static_cast<std::int64_t>(n));
    if (direction < 0) roots[k] = std::conj(roots[k]);
  }
  for (std::size_t length = 2; length <= n; length *= 2)
    for (std::size_t begin = 0; begin < n; begin += length)
      for (std::size_t k = 0; k < length / 2; ++k) {
        const Complex a = x[begin + k], w = roots[k * (n / length)], b = x[begin + k + length / 2];
        // By parts: the library's product also looks for infinities.
        const Complex p{w.real() * b.real() - w.imag() * b.imag(),
                        w.real() * b.imag() + w.imag() * b.real()};
        x[begin + k] = a + p;
        x[begin + k + length / 2] = a - p;
      }
}

Complex times(const Complex& a, const Complex& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// Any length: as a convolution with a chirp (Bluestein).
std::vector<Complex> chirp_transform(const std::vector<Complex>& x, int direction) {
  const auto n = static_cast<std::int64_t>(x.size());
  std::size_t padded = 1;
  while (padded < 2 * x.size() - 1) padded *= 2;
  std::vector<Complex> a(padded), b(padded), chirp(x.size());
  std::int64_t square = 0;  // k^2 modulo 2n
  for (std::int64_t k = 0; k < n; ++k) {
    const auto at = static_cast<std::size_t>(k);
    chirp[at] = root(square, 2 * n);
    if (direction < 0) chirp[at] = std::conj(chirp[at]);
    a[at] = times(x[at], chirp[at]);
    b[at] = std::conj(chirp[at]);
    if (k > 0) b[padded - at] = b[at];
    square = (square + 2 * k + 1) % (2 * n);
  }
  power_of_two_transform(a, -1);
  power_of_two_transform(b, -1);
  for (std::size_t k = 0; k < padded; ++k) a[k] = times(a[k], b[k]);
  power_of_two_transform(a, 1);
  std::vector<Complex> y(x.size());
  for (std::size_t k = 0; k < y.size(); ++k)
    y[k] = times(a[k], chirp[k]) / static_cast<double>(padded);
  return y;
}

ComplexLine<double> fast_transform(const ComplexLine<double>& line, std::int64_t bins,
                                   bool inverse) {
  std::vector<Complex> x(line.real.size());
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = {line.real[k], line.imaginary[k]};
  const int direction = inverse ? 1 : -1;
  if ((x.size() & (x.size() - 1)) == 0)
    power_of_two_transform(x, direction);
  else
    x = chirp_transform(x, direction);
  ComplexLine<double> y(bins);
  const double divisor = inverse ? static_cast<double>(x.size()) : 1;
  for (std::size_t k = 0; k < static_cast<std::size_t>(bins); ++k) {
    y.real[k] = x[k].real() / divisor;
    y.imaginary[k] = x[k].imag() / divisor;
  }
  return y;
}

ComplexLine<double> direct(const ComplexLine<double>& x, std::int64_t bins, bool inverse) {
  const auto n = static_cast<std::int64_t>(x.real.size());
  std::vector<double> cosines, sines;
  for (std::int64_t k = 0; k < n; ++k) {
    const Complex w = root(k, n);
    cosines.push_back(w.real());
    sines.push_back(inverse ? -w.imag() : w.imag());
  }
  // (a + ib)(c - is) = (ac + bs) + i(bc - as)
  std::vector<double> numbers(x.real);
  numbers.insert(numbers.end(), x.imaginary.begin(), x.imaginary.end());
  std::vector<double> real(numbers.size()), imaginary(numbers.size());
  const auto half = static_cast<std::size_t>(n);
  const double divisor = inverse ? static_cast<double>(n) : 1;
  ComplexLine<double> y(bins);
  for (std::size_t k = 0; k < static_cast<std::size_t>(bins); ++k) {
    for (std::size_t j = 0; j < half; ++j) {
      const std::size_t w = k * j % half;
      real[j] = imaginary[j + half] = cosines[w];
      real[j + half] = sines[w];
      imaginary[j] = -sines[w];
    }
    y.real[k] = dot(numbers, real) / divisor;
    y.imaginary[k] = dot(numbers, imaginary) / divisor;
  }
  return y;
}

struct Middle {
  double value, radius;
};
Middle middle(const Bounded& x) { return {x.value, x.error}; }
Middle middle(const Interval& x) {
  const double value = to_double(x);
  return {value, x.nan ? std::numeric_limits<double>::infinity()
                       : std::max(x.high - value, value - x.low)};
}

template <class S>
S around(double value, double error) {
  if constexpr (std::same_as<S, Bounded>)
    return std::isfinite(value + error) ? settle(value, error) : Bounded::anything(value);
  else
    return std::isfinite(value + error) ? enclose(settle(value, error)) : Interval::everything();
}

ComplexLine<double> transformed(const ComplexLine<double>& x, std::int64_t bins, bool inverse) {
  return x.real.size() <= kDirect ? direct(x, bins, inverse) : fast_transform(x, bins, inverse);
}

// Every root has magnitude 1, so what the inputs are unsure of, and what sums lose in any order
// and by any factors of the length, is bounded for all results at once by sums of magnitudes. Roots
// may come from angles up to 2 pi n that are rounded before they are reduced.
template <class S>
ComplexLine<S> bounded_transform(const ComplexLine<S>& x, std::int64_t bins, bool inverse) {
  const std::size_t n = x.real.size();
  ComplexLine<double> line(static_cast<std::int64_t>(n));
  double unsure = 0, magnitude = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const Middle re = middle(x.real[k]), im = middle(x.imaginary[k]);
    line.real[k] = re.value;
    line.imaginary[k] = im.value;
    unsure += re.radius + im.radius;
    magnitude += std::fabs(re.value) + re.radius + std::fabs(im.value) + im.radius;
  }
  const ComplexLine<double> middles = transformed(line, bins, inverse);
  const double angles = 8 * static_cast<double>(n) * rounding().unit;
  const double lost = rounding().accumulation(2 * n + 8) + angles + 0x1p-44;
  double error = (1 + 0x1p-40) * (unsure + lost * magnitude);
  if (inverse) error = error / static_cast<double>(n) * (1 + 4 * rounding().unit);
  ComplexLine<S> y(bins);
  for (std::size_t k = 0; k < static_cast<std::size_t>(bins); ++k) {
    y.real[k] = around<S>(middles.real[k], error);
    y.imaginary[k] = around<S>(middles.imaginary[k], error);
  }
  return y;
}

}  // namespace

template <class S>
ComplexLine<S> fourier(const ComplexLine<S>& x, std::int64_t bins, bool inverse) {
  if (x.real.size() == 1) return x;
  if constexpr (std::same_as<S, double>)
    return transformed(x, bins, inverse);
  else
    return bounded_transform(x, bins, inverse);
}

template ComplexLine<double> fourier(const ComplexLine<double>&, std::int64_t, bool);
template ComplexLine<Bounded> fourier(const ComplexLine<Bounded>&, std::int64_t, bool);
template ComplexLine<Interval> fourier(const ComplexLine<Interval>&, std::int64_t, bool);

}  // namespace assay

#include "patterns/patches_bounded.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/isa.h"
#include "patterns/array.h"
#include "tensor/finite.h"

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kUp = 1 + 0x1p-48;  // covers the rounding of the error terms themselves

// Memory that nobody has to clear, and that others have used before: a tensor's.
Tensor room_for(ElementType type, std::int64_t count) {
  return Tensor::uninitialized(type, {count});
}

template <class T>
bool all_plain(std::span<const T> all, const Rounding& format) {
  if (!all_finite(all)) return false;
  return !format.flushes_subnormals || std::all_of(all.begin(), all.end(), [&](T one) {
    return one == 0 || std::abs(one) >= format.smallest_normal;
  });
}

// Whether operations see the elements as they are, and finite ones only.
bool all_plain(const Elements& of, std::int64_t count, const Rounding& format) {
  const auto size = static_cast<std::size_t>(count);
  return of.is_float ? all_plain(std::span(static_cast<const float*>(of.data), size), format)
                     : all_plain(std::span(static_cast<const double*>(of.data), size), format);
}

// The magnitudes of elements, as they are stored.
class Magnitudes {
 public:
  Magnitudes(const Elements& of, std::int64_t count)
      : sizes_(room_for(of.is_float ? ElementType::f32 : ElementType::f64, count)) {
    if (of.is_float)
      take(static_cast<const float*>(of.data), sizes_.mutate<float>());
    else
      take(static_cast<const double*>(of.data), sizes_.mutate<double>());
  }

  Elements elements() const { return {sizes_.raw(), sizes_.type() == ElementType::f32}; }

 private:
  template <class T>
  static void take(const T* from, std::span<T> to) {
    std::transform(from, from + to.size(), to.begin(), [](T one) { return std::abs(one); });
  }

  Tensor sizes_;
};

// Sums and bounds in the order of the output's elements.
class ExactConvolution {
 public:
  ExactConvolution(const Patches& p, const Rounding& format, ElementType type, const Shape& shape,
                   const std::vector<double>& bias)
      : p_(p), format_(format), bias_(bias), largest_(format.largest), settler_(type, shape) {
    const auto terms = static_cast<std::size_t>(p.terms()) + (bias.empty() ? 0 : 1);
    const double count = static_cast<double>(terms);
    gamma_ = format.accumulation(terms) + 0x1p-52 * count;
    const double flush = format.flushes_subnormals ? format.smallest_normal : 0;
    tiny_ = (format.tiny + flush) * 2 * count;
  }

  Value run(const Elements& x, const Elements& w, PackedWeights* kept) {
    const auto both = [&](std::int64_t batch, std::int64_t map, std::int64_t begin,
                          std::int64_t count, const double* sums, const double* magnitudes) {
      put(map, place(batch, map, begin), count, sums, magnitudes);
    };
    if (!convolve_with_magnitudes(p_, x, w, both, kept)) run_in_turn(x, w);
    return settler_.finish();
  }

 private:
  void run_in_turn(const Elements& x, const Elements& w) {
    const std::int64_t groups = p_.batches * p_.groups;
    Tensor room = room_for(ElementType::f64, groups * p_.maps * p_.outputs());
    double* const values = room.mutate<double>().data();
    const auto keep = [&](std::int64_t batch, std::int64_t map, std::int64_t begin,
                          std::int64_t count, const double* sums) {
      std::copy_n(sums, count, values + place(batch, map, begin));
    };
    convolve(p_, x, w, keep);
    const Magnitudes sizes(x, groups * p_.channels * p_.plane());
    const Magnitudes weights(w, p_.groups * p_.maps * p_.terms());
    const auto finish = [&](std::int64_t batch, std::int64_t map, std::int64_t begin,
                            std::int64_t count, const double* sums) {
      const std::int64_t at = place(batch, map, begin);
      put(map, at, count, values + at, sums);
    };
    convolve(p_, sizes.elements(), weights.elements(), finish);
  }

  void put(std::int64_t map, std::int64_t at, std::int64_t count, const double* sums,
           const double* magnitudes) {
    thread_local std::vector<double> values, errors;
    values.resize(static_cast<std::size_t>(count));
    errors.resize(static_cast<std::size_t>(count));
    const double bias = bias_.empty() ? 0 : bias_[static_cast<std::size_t>(map)];
    with_widest_vectors([=, gamma = gamma_, tiny = tiny_, largest = largest_, to = values.data(),
                         error_to = errors.data()] {
      for (std::int64_t i = 0; i < count; ++i) {
        const double value = sums[i] + bias, size = magnitudes[i] + std::abs(bias);
        const double error = size == 0 ? 0 : (gamma * size + tiny) * kUp;
        const bool held = std::abs(value) + error <= largest;
        to[i] = value;
        error_to[i] = held ? error : kInfinity;
      }
    });
    if (format_.flushes_subnormals) flush(values, errors);
    settler_.put(at, count, values.data(), errors.data());
  }

  void flush(std::span<const double> values, std::span<double> errors) const {
    const RoundingScope scope(format_);
    for (std::size_t i = 0; i < values.size(); ++i) errors[i] = settle(values[i], errors[i]).error;
  }

  std::int64_t place(std::int64_t batch, std::int64_t map, std::int64_t begin) const {
    return (batch * p_.groups * p_.maps + map) * p_.outputs() + begin;
  }

  const Patches& p_;
  const Rounding& format_;
  const std::vector<double>& bias_;
  double gamma_, tiny_;  // what an error is, of the magnitudes' sum and beside it
  const double largest_;
  Settler<Bounded> settler_;
};

}  // namespace

std::optional<Value> convolve_exact(const Patches& p, const Value& x, const Value& w,
                                    const Value* bias, ElementType type, const Shape& shape,
                                    PackedWeights* kept) {
  if (!x.exact() || !w.exact() || (bias && !bias->exact())) return std::nullopt;
  const Rounding& format = rounding_of(type);
  std::vector<double> keep_x, keep_w, added;
  const Elements from = elements_of(x.tensor(), keep_x), by = elements_of(w.tensor(), keep_w);
  if (bias) added = load<double>(*bias).data;
  if (!all_plain(from, x.tensor().size(), format) || !all_plain(by, w.tensor().size(), format) ||
      !all_plain(std::span<const double>(added), format))
    return std::nullopt;
  return ExactConvolution(p, format, type, shape, added).run(from, by, kept);
}

}  // namespace assay

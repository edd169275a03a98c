#include "patterns/patches_bounded.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "patterns/array.h"
#include "tensor/finite.h"

namespace assay {
namespace {

constexpr double kUp = 1 + 0x1p-48;  // covers the rounding of the error terms themselves

// Memory that nobody has to clear, and that others have used before: a tensor's.
Tensor room_for(ElementType type, std::int64_t count) {
  return Tensor::uninitialized(type, {count});
}

// The magnitudes of a tensor's elements, as they are stored.
class Magnitudes {
 public:
  explicit Magnitudes(const Elements& of, std::int64_t count)
      : sizes_(room_for(of.is_float ? ElementType::f32 : ElementType::f64, count)) {
    if (of.is_float)
      take(static_cast<const float*>(of.data), sizes_.mutate<float>());
    else
      take(static_cast<const double*>(of.data), sizes_.mutate<double>());
  }

  Elements elements() const { return {sizes_.raw(), is_float()}; }
  // Whether operations see the elements as they are, and finite ones only.
  bool plain(const Rounding& format) const {
    return is_float() ? all_plain(sizes_.data<float>(), format)
                      : all_plain(sizes_.data<double>(), format);
  }

 private:
  bool is_float() const { return sizes_.type() == ElementType::f32; }
  template <class T>
  static void take(const T* from, std::span<T> to) {
    std::transform(from, from + to.size(), to.begin(), [](T one) { return std::abs(one); });
  }
  template <class T>
  static bool all_plain(std::span<const T> all, const Rounding& format) {
    if (!all_finite(all)) return false;
    return !format.flushes_subnormals || std::all_of(all.begin(), all.end(), [&](T one) {
      return one == 0 || one >= format.smallest_normal;
    });
  }

  Tensor sizes_;
};

// Both convolutions in the order of the output's elements.
class ExactConvolution {
 public:
  ExactConvolution(const Patches& p, const Rounding& format, ElementType type, const Shape& shape)
      : p_(p),
        format_(format),
        settler_(type, shape),
        room_(room_for(ElementType::f64, p.batches * p.groups * p.maps * p.outputs())),
        values_(room_.mutate<double>().data()) {}

  void add_values(const Elements& x, const Elements& w, const std::vector<double>& bias) {
    convolve(p_, x, w,
             [&](std::int64_t batch, std::int64_t map, std::int64_t begin, std::int64_t count,
                 const double* sums) {
               double* const out = values_ + place(batch, map, begin);
               const double b = bias.empty() ? 0 : bias[static_cast<std::size_t>(map)];
               for (std::int64_t i = 0; i < count; ++i) out[i] = sums[i] + b;
             });
  }

  Value finish(const Elements& x, const Elements& w, const std::vector<double>& bias) {
    const auto terms = static_cast<std::size_t>(p_.terms()) + (bias.empty() ? 0 : 1);
    const double count_of = static_cast<double>(terms);
    const double gamma = format_.accumulation(terms) + 0x1p-52 * count_of;
    const double flush = format_.flushes_subnormals ? format_.smallest_normal : 0;
    const double tiny = (format_.tiny + flush) * 2 * count_of;
    convolve(p_, x, w,
             [&](std::int64_t batch, std::int64_t map, std::int64_t begin, std::int64_t count,
                 const double* sums) {
               thread_local std::vector<Bounded> results;
               results.resize(static_cast<std::size_t>(count));
               const RoundingScope scope(format_);
               const std::int64_t at = place(batch, map, begin);
               const double b = bias.empty() ? 0 : std::abs(bias[static_cast<std::size_t>(map)]);
               for (std::int64_t i = 0; i < count; ++i) {
                 const double size = sums[i] + b;
                 const double error = size == 0 ? 0 : (gamma * size + tiny) * kUp;
                 const double value = values_[at + i];
                 const bool held = std::abs(value) + error <= format_.largest;
                 results[static_cast<std::size_t>(i)] = format_.flushes_subnormals
                                                            ? settle(value, error)
                                                        : held ? Bounded{value, error}
                                                               : Bounded::anything(value);
               }
               settler_.put(at, count, results.data());
             });
    return settler_.finish();
  }

 private:
  std::int64_t place(std::int64_t batch, std::int64_t map, std::int64_t begin) const {
    return (batch * p_.groups * p_.maps + map) * p_.outputs() + begin;
  }

  const Patches& p_;
  const Rounding& format_;
  Settler<Bounded> settler_;
  Tensor room_;
  double* values_;
};

bool all_plain(const std::vector<double>& bias, const Rounding& format) {
  return Magnitudes({bias.data(), false}, static_cast<std::int64_t>(bias.size())).plain(format);
}

}  // namespace

std::optional<Value> convolve_exact(const Patches& p, const Value& x, const Value& w,
                                    const Value* bias, ElementType type, const Shape& shape) {
  if (!x.exact() || !w.exact() || (bias && !bias->exact())) return std::nullopt;
  const Rounding& format = rounding_of(type);
  std::vector<double> keep_x, keep_w, added;
  const Elements from = elements_of(x.tensor(), keep_x), by = elements_of(w.tensor(), keep_w);
  if (bias) added = load<double>(*bias).data;
  const Magnitudes sizes(from, x.tensor().size()), weights(by, w.tensor().size());
  if (!sizes.plain(format) || !weights.plain(format) || !all_plain(added, format))
    return std::nullopt;
  ExactConvolution both(p, format, type, shape);
  both.add_values(from, by, added);
  return both.finish(sizes.elements(), weights.elements(), added);
}

}  // namespace assay

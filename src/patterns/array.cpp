#include "patterns/array.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/isa.h"
#include "base/parallel.h"
#include "patterns/arithmetic.h"
#include "scalar/watch.h"
#include "tensor/convert.h"

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kGrain = 64 * 1024;  // elements whose conversion is worth a thread

double rounding_step(double rounded, double value) {
  if (rounded == value || (std::isnan(rounded) && std::isnan(value))) return 0;
  return std::isfinite(rounded) && std::isfinite(value) ? std::abs(rounded - value) : kInfinity;
}

// The whole numbers of an interval, inside the type or, where it may wrap, all of the type.
Interval settle_integer(ElementType type, Interval range) {
  const Interval whole = whole_range(type);
  const Interval inner{std::ceil(range.low), std::floor(range.high), false};
  const bool held = !range.nan && inner.low >= whole.low && inner.high <= whole.high;
  if (held && inner.low <= inner.high) return inner;
  if (Watch* seen = watch(); seen && !held) seen->left_type(range);
  return whole;
}

// The distance of a number of the format to its neighbors (to the farther one at powers of two).
double spacing(const FloatFormat& format, double number) {
  const int exponent =
      number == 0 ? format.min_exponent : std::max(std::ilogb(number), format.min_exponent);
  return std::ldexp(1.0, exponent - format.precision + 1);
}

// The number of the format at or beyond `end` in the given direction. What the format cannot hold
// is `overflowed`, and the end its largest number (or infinity).
double outward(ElementType type, double end, double direction, bool* overflowed) {
  const FloatFormat& format = format_of(type);
  double nearest = round_to(type, end);
  if (std::isnan(nearest)) {
    *overflowed = true;
    return std::copysign(format.largest, end);
  }
  const bool inside = direction < 0 ? nearest > end : nearest < end;
  if (inside) nearest = round_to(type, nearest + direction * spacing(format, nearest));
  if (!std::isnan(nearest)) return nearest;
  *overflowed = true;
  return std::copysign(format.largest, end);
}

Interval settle_real(ElementType type, Interval range) {
  const FloatFormat& format = format_of(type);
  if (range.nan && !format.has_nan) range = hull({0, 0, false}, {range.low, range.high, false});
  if (!range.has_number()) return range;
  bool overflowed = false;
  Interval result{outward(type, range.low, -1, &overflowed),
                  outward(type, range.high, 1, &overflowed), range.nan};
  result.nan = result.nan || overflowed;
  return result;
}

Interval settle_interval(ElementType type, Interval range) {
  return is_real(type) ? settle_real(type, range) : settle_integer(type, range);
}

void settle_bounded(ElementType type, Bounded given, double* value, double* error) {
  if (is_real(type)) {
    *value = round_to(type, given.value);
    *error =
        given.error == kInfinity ? kInfinity : given.error + rounding_step(*value, given.value);
    return;
  }
  *value = given.value;
  *error = std::isfinite(given.error) ? std::floor(given.error) : kInfinity;
  const Interval whole = whole_range(type);
  if (given.value - *error < whole.low || given.value + *error > whole.high) *error = kInfinity;
}

// The same for float32, which most tensors are.
void settle_singles(const Bounded* given, std::int64_t count, float* values, double* errors) {
  for (std::int64_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(given[i].value);
    const double step = std::abs(static_cast<double>(values[i]) - given[i].value);
    errors[i] =
        given[i].error + (std::isfinite(step) ? step : rounding_step(values[i], given[i].value));
  }
}

// How each type rounds where computing is as an Arithmetic says.
struct Roundings {
  const Arithmetic* arithmetic = nullptr;
  std::array<Rounding, kElementTypeCount> of;
};

Roundings make_roundings(const Arithmetic* arithmetic) {
  Roundings made{arithmetic, {}};
  for (int t = 0; t < kElementTypeCount; ++t) {
    const auto element = static_cast<ElementType>(t);
    Rounding& rounding = made.of[static_cast<std::size_t>(t)];
    rounding = Rounding::exact();
    if (!is_real(element)) continue;
    const FloatFormat& format = format_of(element);
    rounding = Rounding::of(format.precision, format.min_exponent, format.largest);
  }
  if (!arithmetic) return made;
  const double smallest = Rounding::f32().smallest_normal;
  for (Rounding& rounding : made.of) {
    if (rounding.unit < 0x1p-24) continue;
    rounding.functions = arithmetic->functions;
    rounding.flushes_subnormals =
        arithmetic->flushes_subnormals && rounding.smallest_normal == smallest;
    if (arithmetic->wide_sums) rounding = rounding.accumulating_in(Rounding::f32());
  }
  return made;
}

thread_local const Roundings* in_use = nullptr;  // null: the default

[[maybe_unused]] const bool kHandedOn = [] {
  on_parallel([] { return [of_caller = in_use] { in_use = of_caller; }; });
  return true;
}();

void use(const Arithmetic* arithmetic) {
  thread_local Roundings own;
  if (arithmetic) own = make_roundings(arithmetic);
  in_use = arithmetic ? &own : nullptr;
}

}  // namespace

const Rounding& rounding_of(ElementType type) {
  static const Roundings plain = make_roundings(nullptr);
  return (in_use ? *in_use : plain).of[static_cast<std::size_t>(type)];
}

ArithmeticScope::ArithmeticScope(const Arithmetic* arithmetic) : before_(current_arithmetic()) {
  use(arithmetic);
}

ArithmeticScope::~ArithmeticScope() { use(before_); }

const Arithmetic* current_arithmetic() { return in_use ? in_use->arithmetic : nullptr; }

Interval whole_range(ElementType type) {
  if (is_real(type)) return Interval::everything();
  if (type == ElementType::boolean) return {0, 1, false};
  return {static_cast<double>(smallest_integer(type)), static_cast<double>(largest_integer(type)),
          false};
}

template <>
void load(const Value& value, std::int64_t begin, std::int64_t end, double* out) {
  to_doubles(value.tensor(), begin, end, out);
}

template <>
void load(const Value& value, std::int64_t begin, std::int64_t end, std::int64_t* out) {
  to_integers(value.tensor(), begin, end, out);
}

template <>
void load(const Value& value, std::int64_t begin, std::int64_t end, std::uint64_t* out) {
  to_integers(value.tensor(), begin, end, out);
}

template <>
void load(const Value& value, std::int64_t begin, std::int64_t end, Bounded* out) {
  if (value.type() == ElementType::f32 && value.exact()) {
    const float* const elements = value.tensor().data<float>().data();
    for (std::int64_t i = begin; i < end; ++i) out[i - begin] = Bounded{elements[i], 0};
    return;
  }
  std::vector<double> values(static_cast<std::size_t>(end - begin));
  to_doubles(value.tensor(), begin, end, values.data());
  const Buffer<double>* errors = value.errors();
  for (std::int64_t i = begin; i < end; ++i)
    out[i - begin] = Bounded{values[static_cast<std::size_t>(i - begin)],
                             errors ? (*errors)[static_cast<std::size_t>(i)] : 0.0};
}

template <>
void load(const Value& value, std::int64_t begin, std::int64_t end, Interval* out) {
  if (const std::vector<Interval>* ranges = value.intervals()) {
    std::copy(ranges->begin() + begin, ranges->begin() + end, out);
    return;
  }
  std::vector<double> values(static_cast<std::size_t>(end - begin));
  to_doubles(value.tensor(), begin, end, values.data());
  const bool integer = is_integer(value.type());
  for (std::size_t i = 0; i < values.size(); ++i) {
    out[i] = Interval::point(values[i]);
    // A double stands for several of the largest integers.
    if (integer && std::fabs(values[i]) >= 0x1p53)
      out[i] =
          meet({std::nextafter(values[i], -kInfinity), std::nextafter(values[i], kInfinity), false},
               whole_range(value.type()));
  }
}

template <class S>
Array<S> load(const Value& value) {
  Array<S> result;
  result.shape = value.shape();
  result.data.resize(static_cast<std::size_t>(value.tensor().size()));
  parallel_for(result.size(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    load<S>(value, begin, end, result.data.data() + begin);
  });
  return result;
}

void settle_singles(const double* given, std::int64_t count, float* values, double* errors) {
  with_widest_vectors([=] {
    for (std::int64_t i = 0; i < count; ++i) {
      values[i] = static_cast<float>(given[i]);
      const double moved = std::abs(static_cast<double>(values[i]) - given[i]);
      errors[i] += moved > 0 ? moved : 0;  // not what is infinite or no number before and after
    }
  });
}

template <class S>
Settler<S>::Settler(ElementType type, Shape shape)
    : type_(type), tensor_(Tensor::uninitialized(type, std::move(shape))) {
  [[maybe_unused]] const auto count = static_cast<std::size_t>(tensor_.size());
  if constexpr (std::is_same_v<S, Bounded>) errors_.resize(count);
  if constexpr (std::is_same_v<S, Interval>) ranges_.resize(count);
}

template <class S>
void* Settler<S>::place(std::int64_t at) {
  return static_cast<char*>(const_cast<void*>(tensor_.raw())) +
         static_cast<std::size_t>(at) * storage_size(type_);
}

template <class S>
void Settler<S>::put(std::int64_t begin, std::int64_t count, const S* values) {
  void* const target = place(begin);
  if constexpr (std::is_same_v<S, double>) {
    from_doubles(type_, values, count, target);
  } else if constexpr (std::is_same_v<S, std::int64_t>) {
    from_integers(type_, values, count, target);
  } else if constexpr (std::is_same_v<S, std::uint64_t>) {
    from_integers(type_, values, count, target);
  } else if constexpr (std::is_same_v<S, Bounded>) {
    if (type_ == ElementType::f32)
      return settle_singles(values, count, static_cast<float*>(target), errors_.data() + begin);
    std::vector<double> rounded(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i)
      settle_bounded(type_, values[i], &rounded[static_cast<std::size_t>(i)],
                     &errors_[static_cast<std::size_t>(begin + i)]);
    from_doubles(type_, rounded.data(), count, target);
  } else {
    for (std::int64_t i = 0; i < count; ++i)
      ranges_[static_cast<std::size_t>(begin + i)] = settle_interval(type_, values[i]);
  }
}

template <class S>
void Settler<S>::put(std::int64_t begin, std::int64_t count, const double* values,
                     const double* errors)
  requires std::is_same_v<S, Bounded>
{
  if (type_ == ElementType::f32) {
    std::copy_n(errors, count, errors_.data() + begin);
    return settle_singles(values, count, static_cast<float*>(place(begin)), errors_.data() + begin);
  }
  std::vector<Bounded> both(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i)
    both[static_cast<std::size_t>(i)] = {values[i], errors[i]};
  put(begin, count, both.data());
}

template <class S>
Value Settler<S>::finish() {
  if constexpr (std::is_same_v<S, Bounded>)
    return Value::bounded(std::move(tensor_), std::move(errors_));
  else if constexpr (std::is_same_v<S, Interval>)
    return Value::ranges(type_, tensor_.shape(), std::move(ranges_));
  else
    return Value(std::move(tensor_));
}

template <class S>
Value settle(ElementType type, const Array<S>& array) {
  Settler<S> settler(type, array.shape);
  parallel_for(array.size(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    settler.put(begin, end - begin, array.data.data() + begin);
  });
  return settler.finish();
}

#define ASSAY_INSTANTIATE(S)               \
  template Array<S> load<S>(const Value&); \
  template class Settler<S>;               \
  template Value settle(ElementType, const Array<S>&)
ASSAY_INSTANTIATE(double);
ASSAY_INSTANTIATE(Bounded);
ASSAY_INSTANTIATE(Interval);
ASSAY_INSTANTIATE(std::int64_t);
ASSAY_INSTANTIATE(std::uint64_t);
#undef ASSAY_INSTANTIATE

}  // namespace assay

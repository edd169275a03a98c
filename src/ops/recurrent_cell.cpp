#include "ops/recurrent_cell.h"

#include <algorithm>
#include <array>

namespace assay {
namespace {

using Kind = Activation::Kind;

struct NamedActivation {
  std::string_view name;
  Kind kind;
  bool takes_alpha, takes_beta, has_defaults;
  double alpha, beta;  // as float32, like the attributes
};

constexpr std::array<NamedActivation, 11> kActivations = {{
    {"Relu", Kind::relu, false, false, true, 0, 0},
    {"Tanh", Kind::tanh, false, false, true, 0, 0},
    {"Sigmoid", Kind::sigmoid, false, false, true, 0, 0},
    {"Affine", Kind::affine, true, true, true, 1, 0},
    {"LeakyRelu", Kind::leaky_relu, true, false, true, 0.01F, 0},
    {"ThresholdedRelu", Kind::thresholded_relu, true, false, true, 1, 0},
    {"ScaledTanh", Kind::scaled_tanh, true, true, false, 0, 0},
    {"HardSigmoid", Kind::hard_sigmoid, true, true, true, 0.2F, 0.5},
    {"Elu", Kind::elu, true, false, true, 1, 0},
    {"Softsign", Kind::softsign, false, false, true, 0, 0},
    {"Softplus", Kind::softplus, false, false, true, 0, 0},
}};

// A list from which the activations that take an argument draw, each the next one.
class Arguments {
 public:
  explicit Arguments(std::vector<double> values) : values_(std::move(values)) {}
  std::optional<double> next() {
    if (used_ == values_.size()) return std::nullopt;
    return values_[used_++];
  }

 private:
  std::vector<double> values_;
  std::size_t used_ = 0;
};

template <class S, class F>
void each(std::span<S> x, const F& f) {
  for (S& value : x) value = f(value);
}

template <class S>
S elu(const S& x, const S& alpha) {
  const S below = std::is_same_v<S, double> ? expm1(x) : exp(x) - constant<S>(1.0);
  return select(less(x, zero<S>()), alpha * below, x);
}

template <class S>
S hard_sigmoid(const S& x, const S& alpha, const S& beta) {
  return clamp(alpha * x + beta, zero<S>(), constant<S>(1.0));
}

}  // namespace

std::optional<std::vector<Activation>> activations_of(const Site& site,
                                                      const std::vector<std::string>& defaults,
                                                      std::int64_t directions) {
  std::vector<std::string> names = site.texts("activations");
  if (names.empty() && !site.has("activations"))
    for (std::int64_t d = 0; d < directions; ++d)
      names.insert(names.end(), defaults.begin(), defaults.end());
  const std::size_t count = defaults.size() * static_cast<std::size_t>(directions);
  // The standard's own default for RNN names two, also where there is one direction.
  if (defaults.size() == 1 && names.size() == 2) names.resize(count);
  if (names.size() != count) return std::nullopt;
  Arguments alphas(site.reals("activation_alpha")), betas(site.reals("activation_beta"));
  std::vector<Activation> result;
  for (const std::string& name : names) {
    const auto* found = std::find_if(kActivations.begin(), kActivations.end(),
                                     [&](const NamedActivation& a) { return a.name == name; });
    if (found == kActivations.end()) return std::nullopt;
    Activation activation{found->kind, found->alpha, found->beta};
    const auto alpha = found->takes_alpha ? alphas.next() : std::nullopt;
    const auto beta = found->takes_beta ? betas.next() : std::nullopt;
    if (!found->has_defaults && (!alpha || !beta)) return std::nullopt;
    activation.alpha = alpha.value_or(activation.alpha);
    activation.beta = beta.value_or(activation.beta);
    result.push_back(activation);
  }
  return result;
}

template <class S>
void activate(const Activation& f, double clip, std::span<S> x) {
  const S alpha = constant<S>(f.alpha), beta = constant<S>(f.beta);
  if (clip >= 0) {
    const S low = constant<S>(-clip), high = constant<S>(clip);
    each(x, [&](const S& v) { return clamp(v, low, high); });
  }
  switch (f.kind) {
    case Kind::relu:
      return each(x, [](const S& v) { return max(v, zero<S>()); });
    case Kind::tanh:
      return each(x, [](const S& v) { return tanh(v); });
    case Kind::sigmoid:
      return each(x, [](const S& v) { return sigmoid(v); });
    case Kind::affine:
      return each(x, [&](const S& v) { return alpha * v + beta; });
    case Kind::leaky_relu:
      return each(x, [&](const S& v) { return select(less(v, zero<S>()), alpha * v, v); });
    case Kind::thresholded_relu:
      return each(x, [&](const S& v) { return select(greater_equal(v, alpha), v, zero<S>()); });
    case Kind::scaled_tanh:
      return each(x, [&](const S& v) { return alpha * tanh(beta * v); });
    case Kind::hard_sigmoid:
      return each(x, [&](const S& v) { return hard_sigmoid(v, alpha, beta); });
    case Kind::elu:
      return each(x, [&](const S& v) { return elu(v, alpha); });
    case Kind::softsign:
      return each(x, [](const S& v) { return v / (constant<S>(1.0) + abs(v)); });
    case Kind::softplus:
      return each(x, [](const S& v) { return softplus(v); });
  }
}

namespace {

// The elements of a real tensor from `offset` on, as they are stored.
MatrixView stored(const Tensor& tensor, std::int64_t offset, std::int64_t row,
                  std::int64_t column) {
  const bool is_float = storage_of(tensor.type()) == Storage::f32;
  const auto size = static_cast<std::int64_t>(is_float ? sizeof(float) : sizeof(double));
  return {static_cast<const char*>(tensor.raw()) + offset * size, is_float, row, column};
}

template <class S>
std::vector<S> bias_of(const Call& call, const RecurrentShape& s, std::int64_t direction) {
  const std::int64_t width = 2 * s.gates * s.hidden;
  std::vector<S> bias(static_cast<std::size_t>(width));
  if (call.has(3)) load<S>(call.input(3), direction * width, (direction + 1) * width, bias.data());
  return bias;
}

// rows of columns `column`… of `target`, transposed from `count` rows of `depth` elements.
template <class S>
void transpose_into(const Value& value, std::int64_t begin, std::int64_t count, std::int64_t depth,
                    S* target) {
  std::vector<S> rows(static_cast<std::size_t>(count * depth));
  load<S>(value, begin, begin + count * depth, rows.data());
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t k = 0; k < depth; ++k)
      target[k * count + i] = rows[static_cast<std::size_t>(i * depth + k)];
}

}  // namespace

template <class S>
GateSums<S>::GateSums(const Call& call, const RecurrentShape& shape, std::int64_t direction)
    : shape_(shape), bias_(bias_of<S>(call, shape, direction)) {
  const std::int64_t width = shape.gates * shape.hidden;
  inputs_ = load<S>(call.input(0)).data;
  weights_.resize(static_cast<std::size_t>((shape.input + shape.hidden + 2) * width));
  S* at = weights_.data();
  transpose_into(call.input(1), direction * width * shape.input, width, shape.input, at);
  at += shape.input * width;
  at = std::copy_n(bias_.data(), width, at);
  transpose_into(call.input(2), direction * width * shape.hidden, width, shape.hidden, at);
  std::copy_n(bias_.data() + width, width, at + shape.hidden * width);
}

template <class S>
void GateSums<S>::operator()(GatePart part, std::span<const std::int64_t> rows, const S* h,
                             std::int64_t first, std::int64_t last, S* out) const {
  const std::int64_t width = shape_.gates * shape_.hidden, n = (last - first) * shape_.hidden;
  const std::int64_t begin = part == GatePart::recurrent ? shape_.input + 1 : 0;
  const std::int64_t end =
      part == GatePart::input ? shape_.input + 1 : shape_.input + shape_.hidden + 2;
  const std::int64_t batch = static_cast<std::int64_t>(rows.size());
  std::vector<S> terms;  // x, 1, h, 1 of each batch element, cut to the part
  for (std::int64_t b = 0; b < batch; ++b) {
    std::vector<S> all(static_cast<std::size_t>(shape_.input));
    const std::int64_t row = rows[static_cast<std::size_t>(b)];
    if (row >= 0) std::copy_n(inputs_.data() + row * shape_.input, shape_.input, all.data());
    all.push_back(constant<S>(1.0));
    all.insert(all.end(), h + b * shape_.hidden, h + (b + 1) * shape_.hidden);
    all.push_back(constant<S>(1.0));
    terms.insert(terms.end(), all.begin() + begin, all.begin() + end);
  }
  multiply<S>(batch, n, end - begin, {terms.data(), end - begin, 1},
              {weights_.data() + begin * width + first * shape_.hidden, width, 1}, out);
}

template <>
GateSums<double>::GateSums(const Call& call, const RecurrentShape& shape, std::int64_t direction)
    : shape_(shape), bias_(bias_of<double>(call, shape, direction)) {
  const std::int64_t width = shape.gates * shape.hidden, rows = shape.steps * shape.batch;
  recurrent_ = stored(call.input(2).tensor(), direction * width * shape.hidden, 1, shape.hidden);
  inputs_.resize(static_cast<std::size_t>(rows * width));
  gemm(rows, width, shape.input, stored(call.input(0).tensor(), 0, shape.input, 1),
       stored(call.input(1).tensor(), direction * width * shape.input, 1, shape.input),
       inputs_.data(), width);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t j = 0; j < width; ++j)
      inputs_[static_cast<std::size_t>(r * width + j)] += bias_[static_cast<std::size_t>(j)];
}

template <>
void GateSums<double>::operator()(GatePart part, std::span<const std::int64_t> rows,
                                  const double* h, std::int64_t first, std::int64_t last,
                                  double* out) const {
  const std::int64_t width = shape_.gates * shape_.hidden, n = (last - first) * shape_.hidden;
  const auto batch = static_cast<std::int64_t>(rows.size());
  const std::int64_t begin = first * shape_.hidden;
  if (part == GatePart::input) {
    std::fill_n(out, batch * n, 0.0);
  } else {
    MatrixView r = recurrent_;
    const std::int64_t size = r.is_float ? sizeof(float) : sizeof(double);
    r.data = static_cast<const char*>(r.data) + begin * shape_.hidden * size;
    gemm(batch, n, shape_.hidden, {h, false, shape_.hidden, 1}, r, out, n);
    const double* bias = bias_.data() + width + begin;
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t j = 0; j < n; ++j) out[b * n + j] += bias[j];
  }
  if (part == GatePart::recurrent) return;
  for (std::int64_t b = 0; b < batch; ++b) {
    if (rows[static_cast<std::size_t>(b)] < 0) continue;
    const double* x = inputs_.data() + rows[static_cast<std::size_t>(b)] * width + begin;
    for (std::int64_t j = 0; j < n; ++j) out[b * n + j] += x[j];
  }
}

#define ASSAY_INSTANTIATE(S)                                       \
  template void activate(const Activation&, double, std::span<S>); \
  template class GateSums<S>
ASSAY_INSTANTIATE(double);
ASSAY_INSTANTIATE(Bounded);
ASSAY_INSTANTIATE(Interval);
#undef ASSAY_INSTANTIATE

}  // namespace assay

// Steps of optimizers: R is the learning rate, T the number of updates so far; then all variables,
// all their gradients, and all of each kind of history. The outputs are the new variables and the
// new histories.
#include <fmt/format.h>

#include "ops/families.h"
#include "ops/training_gradient.h"
#include "patterns/compute.h"

namespace assay {
namespace {

// The elements of one variable and what belongs to it.
template <class S>
using Kinds = std::vector<Array<S>>;

// Step: kKinds inputs a variable, and a function that turns them into the outputs, in place:
//   template <class S> void operator()(S rate, S count, Kinds<S>& kinds) const
// where kinds[1], the gradient, is no output.
template <class Step>
struct Update {
  Step step;
  explicit Update(const Call& call) : step(call) {}

  template <class S>
  void operator()(Frame<S>& frame) const {
    const std::size_t variables = (frame.call().inputs.size() - 2) / Step::kKinds;
    for (std::size_t v = 0; v < variables; ++v) {
      const RoundingScope scope(rounding_of(frame.call().input(2 + v).type()));
      const S rate = frame.input(0)[0], count = frame.input(1)[0];
      Kinds<S> kinds;
      for (std::size_t k = 0; k < Step::kKinds; ++k)
        kinds.push_back(frame.input(2 + k * variables + v));
      step(rate, count, kinds);
      for (std::size_t k = 0; k < Step::kKinds; ++k) {
        const std::size_t output = (k == 0 ? 0 : k - 1) * variables + v;
        if (k != 1 && frame.wants(output)) frame.output(output, kinds[k]);
      }
    }
  }
};

struct Adam {
  static constexpr std::size_t kKinds = 4;  // X, G, V, H
  double alpha, beta, epsilon, norm, norm_post;
  explicit Adam(const Call& call)
      : alpha(call.site.real("alpha")),
        beta(call.site.real("beta")),
        epsilon(call.site.real("epsilon")),
        norm(call.site.real("norm_coefficient")),
        norm_post(call.site.real("norm_coefficient_post")) {}

  template <class S>
  void operator()(S rate, S count, Kinds<S>& kinds) const {
    const S one = constant<S>(1.0), a = constant<S>(alpha), b = constant<S>(beta);
    const S adjusted = select(greater(count, zero<S>()),
                              rate * sqrt(one - pow(b, count)) / (one - pow(a, count)), rate);
    for (std::int64_t i = 0; i < kinds[0].size(); ++i) {
      S &x = kinds[0][i], &v = kinds[2][i], &h = kinds[3][i];
      const S g = constant<S>(norm) * x + kinds[1][i];
      v = a * v + (one - a) * g;
      h = b * h + (one - b) * square(g);
      x = (one - constant<S>(norm_post)) * (x - adjusted * v / (sqrt(h) + constant<S>(epsilon)));
    }
  }
};

struct Adagrad {
  static constexpr std::size_t kKinds = 3;  // X, G, H
  double decay, epsilon, norm;
  explicit Adagrad(const Call& call)
      : decay(call.site.real("decay_factor")),
        epsilon(call.site.real("epsilon")),
        norm(call.site.real("norm_coefficient")) {}

  template <class S>
  void operator()(S rate, S count, Kinds<S>& kinds) const {
    const S slowed = rate / (constant<S>(1.0) + count * constant<S>(decay));
    for (std::int64_t i = 0; i < kinds[0].size(); ++i) {
      S &x = kinds[0][i], &h = kinds[2][i];
      const S g = constant<S>(norm) * x + kinds[1][i];
      h = h + square(g);
      x = x - slowed * g / (sqrt(h) + constant<S>(epsilon));
    }
  }
};

struct Momentum {
  static constexpr std::size_t kKinds = 3;  // X, G, V
  double alpha, beta, norm;
  bool nesterov;
  explicit Momentum(const Call& call)
      : alpha(call.site.real("alpha")),
        beta(call.site.real("beta")),
        norm(call.site.real("norm_coefficient")),
        nesterov(call.site.text("mode") == "nesterov") {}

  template <class S>
  void operator()(S rate, S count, Kinds<S>& kinds) const {
    const S a = constant<S>(alpha);
    const S b = select(greater(count, zero<S>()), constant<S>(beta), constant<S>(1.0));
    for (std::int64_t i = 0; i < kinds[0].size(); ++i) {
      S &x = kinds[0][i], &v = kinds[2][i];
      const S g = constant<S>(norm) * x + kinds[1][i];
      v = a * v + b * g;
      x = x - rate * (nesterov ? g + a * v : v);
    }
  }
};

template <std::size_t kKinds>
void require_update(Check& c) {
  c.element_count_is("R", 1);
  c.element_count_is("T", 1);
  const std::size_t tensors = c.site.input_count() - 2;
  if (!c.argument(tensors > 0 && tensors % kKinds == 0, "inputs",
                  fmt::format("a multiple of {} tensors", kKinds), fmt::format("{}", tensors)))
    return;
  const std::size_t variables = tensors / kKinds;
  c.argument(c.site.output_count() <= variables * (kKinds - 1), "outputs",
             fmt::format("at most {} outputs", variables * (kKinds - 1)),
             fmt::format("{}", c.site.output_count()));
  for (std::size_t i = 0; i < tensors; ++i) {
    if (!c.argument(c.site.has_input(2 + i), "inputs", fmt::format("input {}", 2 + i), "none"))
      return;
    const ValueType &x = c.site.type(2 + i % variables), &other = c.site.type(2 + i);
    const bool typed = x.is_tensor() && other.is_tensor();
    c.argument(!typed || x.element == other.element, "same-type",
               fmt::format("input {} of type {}", 2 + i, short_name(x.element)),
               std::string(short_name(other.element)));
    const auto a = x.dims ? to_shape(*x.dims) : std::nullopt;
    const auto b = other.dims ? to_shape(*other.dims) : std::nullopt;
    if (!a || !b)
      c.undecided("same-shape", fmt::format("the shape of input {}", 2 + i));
    else
      c.shape(*a == *b, "same-shape", fmt::format("input {} of shape {}", 2 + i, to_text(*a)),
              to_text(*b));
  }
}

template <std::size_t kKinds>
void infer_update(Infer& n) {
  const std::size_t variables = (n.site.input_count() - 2) / kKinds;
  for (std::size_t i = 0; variables > 0 && i < n.site.output_count(); ++i)
    n.output(i, n.site.type(2 + i % variables));
}

// A variant of one variable, on scalars of the variable's type.
struct Scalars {
  Builder& b;
  std::string rate, count, one;
  explicit Scalars(Builder& builder) : b(builder) {
    const auto type = static_cast<std::int64_t>(b.site().element(2));
    rate = b("Cast", {b.input(0)}, {attribute("to", type)});
    count = b("Cast", {b.input(1)}, {attribute("to", type)});
    one = b.like(2, 1);
  }
  std::string real(std::string_view name) { return b.like(2, b.site().real(name)); }
  std::string mul(const std::string& x, const std::string& y) { return b("Mul", {x, y}); }
  std::string add(const std::string& x, const std::string& y) { return b("Add", {x, y}); }
  std::string sub(const std::string& x, const std::string& y) { return b("Sub", {x, y}); }
  std::string div(const std::string& x, const std::string& y) { return b("Div", {x, y}); }
  std::string root(const std::string& x) { return b("Sqrt", {x}); }
  std::string gradient() { return add(mul(real("norm_coefficient"), b.input(2)), b.input(3)); }
};

// PyTorch corrects the root of H before it adds epsilon: sqrt(H / (1 − beta^T)) + epsilon.
void epsilon_after_correction(Builder& b) {
  Scalars s(b);
  const Builder::Values plain = b.again();
  if (plain.size() != 3) return;
  const auto powered = [&](std::string_view name) {
    return s.sub(s.one, b("Pow", {s.real(name), s.count}));
  };
  const std::string root = s.root(s.div(plain[2], powered("beta")));
  const std::string step = s.div(s.div(plain[1], powered("alpha")), s.add(root, s.real("epsilon")));
  const std::string x = s.sub(b.input(2), s.mul(s.rate, step));
  b.output(0, s.mul(s.sub(s.one, s.real("norm_coefficient_post")), x));
  b.output(1, plain[1]);
  b.output(2, plain[2]);
}

void epsilon_under_root(Builder& b) {
  Scalars s(b);
  const Builder::Values plain = b.again();
  if (plain.size() != 2) return;
  const std::string slowed = s.div(s.rate, s.add(s.one, s.mul(s.count, s.real("decay_factor"))));
  const std::string root = s.root(s.add(plain[1], s.real("epsilon")));
  b.output(0, s.sub(b.input(2), s.mul(slowed, s.div(s.gradient(), root))));
  b.output(1, plain[1]);
}

// Caffe and Keras keep the rate inside the momentum: V = alpha V + R G; X = X − V.
void rate_in_momentum(Builder& b) {
  Scalars s(b);
  const std::string v = s.add(s.mul(s.real("alpha"), b.input(4)), s.mul(s.rate, s.gradient()));
  b.output(0, s.sub(b.input(2), v));
  b.output(1, v);
}

constexpr std::string_view kDomain = "ai.onnx.preview.training";

Operator adam() {
  return {.name = "Adam",
          .domain = kDomain,
          .versions = {1},
          .summary = "A step of Adam: momentum divided by the root of the mean squared gradient.",
          .attributes = {{"alpha", Role::ratio},
                         {"beta", Role::ratio},
                         {"epsilon", Role::epsilon},
                         {"norm_coefficient", Role::factor},
                         {"norm_coefficient_post", Role::factor}},
          .require = require_update<Adam::kKinds>,
          .infer = infer_update<Adam::kKinds>,
          .meaning = compute<Update<Adam>>(Pattern::elementwise),
          .variants = {{"epsilon-after-correction", Variant::Kind::difference, "PyTorch",
                        epsilon_after_correction}}};
}

Operator adagrad() {
  return {.name = "Adagrad",
          .domain = kDomain,
          .versions = {1},
          .summary = "A step along the gradient, divided by the root of all its squares so far.",
          .attributes = {{"decay_factor", Role::factor},
                         {"epsilon", Role::epsilon},
                         {"norm_coefficient", Role::factor}},
          .require = require_update<Adagrad::kKinds>,
          .infer = infer_update<Adagrad::kKinds>,
          .meaning = compute<Update<Adagrad>>(Pattern::elementwise),
          .variants = {
              {"epsilon-under-root", Variant::Kind::difference, "MXNet 1.x", epsilon_under_root}}};
}

Operator momentum() {
  return {.name = "Momentum",
          .domain = kDomain,
          .versions = {1},
          .summary = "A step of gradient descent with momentum, Nesterov's if asked for.",
          .attributes = {{"alpha", Role::ratio},
                         {"beta", Role::ratio},
                         {"mode", Role::choice},
                         {"norm_coefficient", Role::factor}},
          .require =
              [](Check& c) {
                c.one_of("mode", {"nesterov", "standard"});
                require_update<Momentum::kKinds>(c);
              },
          .infer = infer_update<Momentum::kKinds>,
          .meaning = compute<Update<Momentum>>(Pattern::elementwise),
          .variants = {
              {"rate-in-momentum", Variant::Kind::difference, "Caffe, Keras", rate_in_momentum}}};
}

}  // namespace

std::vector<Operator> training_operators() { return {adagrad(), adam(), gradient(), momentum()}; }

}  // namespace assay

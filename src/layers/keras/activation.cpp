// Keras' functions of one value, and the layers that apply them.
#include <algorithm>

#include "layers/keras/body.h"
#include "layers/keras/layers.h"

namespace assay::keras {
namespace {

std::string clipped(Body& l, const std::string& x, double least, double most) {
  return l("Clip", {x, l.number(least), l.number(most)});
}

std::string scaled(Body& l, const std::string& x, double factor) {
  return l("Mul", {x, l.number(factor)});
}

// Keras 3 has PyTorch's function under the name that was Theano's in Keras 2.
std::string hard_sigmoid(Body& l, const std::string& x) {
  const bool old = l.site.version() < 3;
  return clipped(l, l("Add", {scaled(l, x, old ? 0.2 : 1.0 / 6), l.number(0.5)}), 0, 1);
}

// One half of the last axis decides how much of the other remains.
std::string glu(Body& l, const std::string& x) {
  const Names halves =
      l.b.many("Split", {x}, 2, {attribute("axis", -1), attribute("num_outputs", 2)});
  return l("Mul", {halves[0], l("Sigmoid", {halves[1]})});
}

// The constants of self-normalising networks, to the digits of a double.
std::string selu(Body& l, const std::string& x) {
  constexpr double kAlpha = 1.6732632423543772848170429916717;
  constexpr double kScale = 1.0507009873554804934193349852946;
  const std::string low = scaled(l, l("Sub", {l("Exp", {x}), l.number(1)}), kAlpha);
  return scaled(l, l("Where", {l("Less", {x, l.number(0)}), low, x}), kScale);
}

std::string swish(Body& l, const std::string& x) { return l("Mul", {x, l("Sigmoid", {x})}); }

std::string hard_silu(Body& l, const std::string& x) { return l("Mul", {x, hard_sigmoid(l, x)}); }

// Nothing within half of 0; beyond, x itself or x moved to it.
std::string shrunk(Body& l, const std::string& x, double moved) {
  return l("Shrink", {x}, {attribute("lambd", 0.5), attribute("bias", moved)});
}

// A parabola from -1 to 1 joins zero and x.
std::string sparse_plus(Body& l, const std::string& x) {
  const std::string above = l("Add", {x, l.number(1)});
  const std::string bent = scaled(l, l("Mul", {above, above}), 0.25);
  const std::string right = l("Where", {l("Less", {x, l.number(1)}), bent, x});
  return l("Where", {l("LessOrEqual", {x, l.number(-1)}), l.number(0), right});
}

std::string squareplus(Body& l, const std::string& x) {
  const std::string root = l("Sqrt", {l("Add", {l("Mul", {x, x}), l.number(4)})});
  return scaled(l, l("Add", {x, root}), 0.5);
}

struct Activation {
  std::string_view name;
  std::string_view standard;  // the operator that is the function, or
  std::string (*build)(Body&, const std::string&) = nullptr;
  bool halves = false;  // the last axis
};

const Activation kActivations[] = {
    {"celu", "Elu"},
    {"elu", "Elu"},
    {"exponential", "Exp"},
    {"gelu", "Gelu"},
    {"glu", "", glu, true},
    {"hard_shrink", "", [](Body& l, const std::string& x) { return shrunk(l, x, 0); }},
    {"hard_sigmoid", "", hard_sigmoid},
    {"hard_silu", "", hard_silu},
    {"hard_swish", "", hard_silu},
    {"hard_tanh", "", [](Body& l, const std::string& x) { return clipped(l, x, -1, 1); }},
    {"leaky_relu", "",
     [](Body& l, const std::string& x) {
       return l("Max", {x, scaled(l, x, 0.2)});
     }},
    {"linear", ""},
    {"log_sigmoid", "",
     [](Body& l, const std::string& x) { return l("Neg", {l("Softplus", {l("Neg", {x})})}); }},
    {"log_softmax", "",
     [](Body& l, const std::string& x) { return l("LogSoftmax", {x}, {attribute("axis", -1)}); }},
    {"mish", "Mish"},
    {"relu", "Relu"},
    {"relu6", "", [](Body& l, const std::string& x) { return clipped(l, x, 0, 6); }},
    {"selu", "", selu},
    {"sigmoid", "Sigmoid"},
    {"silu", "", swish},
    {"soft_shrink", "", [](Body& l, const std::string& x) { return shrunk(l, x, 0.5); }},
    {"softmax", "", [](Body& l, const std::string& x) { return softmax(l, x, {-1}); }},
    {"softplus", "Softplus"},
    {"softsign", "Softsign"},
    {"sparse_plus", "", sparse_plus},
    {"sparse_sigmoid", "",
     [](Body& l, const std::string& x) {
       return clipped(l, l("Add", {scaled(l, x, 0.5), l.number(0.5)}), 0, 1);
     }},
    {"squareplus", "", squareplus},
    {"swish", "", swish},
    {"tanh", "Tanh"},
    {"tanh_shrink", "",
     [](Body& l, const std::string& x) {
       return l("Sub", {x, l("Tanh", {x})});
     }},
};

const Activation* find_activation(std::string_view name) {
  const auto found = std::ranges::find(kActivations, name, &Activation::name);
  return found == std::end(kActivations) ? nullptr : &*found;
}

// Below the threshold a line through it; from there on x, but at most max_value. Keras' page says
// nothing of a max_value below the threshold: all releases then ask about the threshold first.
std::string relu(Body& l) {
  const double threshold = l.site.real("threshold");
  const std::string below =
      scaled(l, l("Sub", {l.x, l.number(threshold)}), l.site.real("negative_slope"));
  const std::string above =
      l.site.has("max_value") ? l("Min", {l.x, l.number(l.site.real("max_value"))}) : l.x;
  return l("Where", {l("Less", {l.x, l.number(threshold)}), below, above});
}

// What is kept is clipped at zero, though a threshold below it leaves negative elements.
std::string clipped_at_zero(Body& l) {
  if (!l.site.has("max_value")) return relu(l);
  const double threshold = l.site.real("threshold");
  const std::string kept = l("Where", {l("Greater", {l.x, l.number(threshold)}), l.x, l.number(0)});
  const std::string below = l("Relu", {l("Sub", {l.number(threshold), l.x})});
  return l("Sub", {clipped(l, kept, 0, l.site.real("max_value")),
                   scaled(l, below, l.site.real("negative_slope"))});
}

std::string leaky_relu(Body& l) {
  const double slope = l.site.real("alpha", l.site.real("negative_slope", 0.3));
  return l("Where", {l("Less", {l.x, l.number(0)}), scaled(l, l.x, slope), l.x});
}

std::string elu(Body& l) {
  const std::string low = l("Sub", {l("Exp", {l.x}), l.number(1)});
  return l("Where", {l("Less", {l.x, l.number(0)}), scaled(l, low, l.site.real("alpha")), l.x});
}

std::string thresholded_relu(Body& l) {
  const std::string kept = l("Greater", {l.x, l.number(l.site.real("theta"))});
  return l("Where", {kept, l.x, l.number(0)});
}

// The mask has an axis less than x; Keras lets the two broadcast as they are, from the last axis
// on.
Weights softmax_weights(const Site& site) {
  if (!flag(site, "masked")) return {};
  Dims shape;
  if (const Dims* dims = site.dims(0)) shape.assign(dims->begin(), dims->end() - 1);
  return {{"mask", std::move(shape)}};
}

void require_softmax(Check& c) {
  const bool some = !c.site.integers("axis").empty();
  c.rank("x", at_least(1)), c.axes("axis", "x");
  c.argument(some, "axis", "at least one axis", "none");
}

// Keras 2 adds to what does not count; Keras 3 puts a number in its place, and zero into the
// result.
std::string masked_softmax(Body& l) {
  const std::string mask = l.weight("mask");
  std::string x = l.x, counts;
  if (!mask.empty() && l.site.version() < 3) {
    x = l("Add", {x, scaled(l, l("Sub", {l.number(1), mask}), -1e9)});
  } else if (!mask.empty()) {
    const auto truth = static_cast<std::int64_t>(ElementType::boolean);
    counts = l("Cast", {mask}, {attribute("to", truth)});
    x = l("Where", {counts, x, l.number(l.type() == ElementType::f16 ? -3e4 : -1e9)});
  }
  const std::string y = softmax(l, x, l.site.integers("axis"));
  return counts.empty() ? y : l("Where", {counts, y, l.number(0)});
}

// One slope an element of the input without its batch, but for the axes that share one.
Weights prelu_weights(const Site& site) {
  Dims shape;
  if (const Dims* dims = site.dims(0); dims && !dims->empty())
    shape.assign(dims->begin() + 1, dims->end());
  for (std::int64_t axis : site.integers("shared_axes")) {
    if (axis >= 1 && axis <= std::ssize(shape)) shape[static_cast<std::size_t>(axis) - 1] = 1;
  }
  return {{"alpha", std::move(shape)}};
}

std::string prelu(Body& l) { return l("PRelu", {l.x, l.weight("alpha")}); }

}  // namespace

std::string softmax(Body& l, const std::string& x, const Integers& axes) {
  if (axes.size() == 1) return l("Softmax", {x}, {attribute("axis", axes[0])});
  return l("Exp", {l("Sub", {x, l("ReduceLogSumExp", {x, l.b.integers(axes)})})});
}

std::string activate(Body& l, const std::string& value, std::string_view name) {
  const Activation* function = find_activation(name);
  ASSAY_CHECK(function);
  if (function->build) return function->build(l, value);
  return function->standard.empty() ? value : l(std::string(function->standard), {value});
}

bool is_activation(std::string_view name) { return find_activation(name) != nullptr; }

bool halves_axis(std::string_view name) {
  const Activation* function = find_activation(name);
  return function && function->halves;
}

std::vector<Layer> activation_layers() {
  std::vector<Layer> layers = {
      {.name = "Activation",
       .summary = "A function of Keras' list, by its name.",
       .arguments = {{"activation", Role::choice}},
       .require = [](Check& c) { require_activation(c); },
       .build = [](Body& l) { return l.activated(l.x); }},
      {.name = "ReLU",
       .summary = "x from the threshold on, at most max_value; negative_slope · (x − threshold) "
                  "below it.",
       .arguments = {{"max_value", Role::bounds, {}, true},
                     real("negative_slope", Role::factor, 0),
                     real("threshold", Role::bounds, 0)},
       .build = relu,
       .variants = {{"clipped-at-zero", Variant::Kind::defect,
                     "Keras 2.3 on all backends and tf.keras 2.4, of a threshold below zero",
                     reading<clipped_at_zero>}}},
      {.name = "LeakyReLU",
       .summary = "x, times alpha where it is negative.",
       .arguments = {{"alpha", Role::factor, {}, true}, {"negative_slope", Role::factor, {}, true}},
       .build = leaky_relu},
      {.name = "ELU",
       .summary = "x, and alpha · (eˣ − 1) where it is negative.",
       .arguments = {real("alpha", Role::factor, 1)},
       .build = elu},
      {.name = "ThresholdedReLU",
       .summary = "x where it is greater than theta, else zero.",
       .arguments = {real("theta", Role::bounds, 1)},
       .build = thresholded_relu},
      {.name = "PReLU",
       .summary = "x, times a learned slope of its own where it is negative.",
       .arguments = {{"shared_axes", Role::axes, {}, true}},
       .weights = prelu_weights,
       .build = prelu},
      {.name = "Softmax",
       .summary = "eˣ over its sum along an axis, or along several together.",
       .arguments = {{"axis", Role::axes, Integers{-1}}, masked()},
       .weights = softmax_weights,
       .require = require_softmax,
       .build = masked_softmax},
  };
  for (Layer& layer : layers) {
    layer.masks = layer.name == "Softmax" ? Masks::keep : Masks::pass;
  }
  return layers;
}

}  // namespace assay::keras

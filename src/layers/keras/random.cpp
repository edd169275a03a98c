// Layers that draw while a network is trained, and do nothing when it predicts.
#include <cmath>

#include "layers/keras/body.h"
#include "layers/keras/layers.h"

namespace assay::keras {
namespace {

double rate_of(const Body& l) { return l.site.real("rate"); }

std::string dropped(Body& l, const std::string& value) {
  const Tensor yes = make_scalar(ElementType::boolean, 1);
  return l("Dropout", {value, l.number(rate_of(l)), l.b.constant(yes)});
}

std::string noise(Body& l) { return l("RandomNormalLike", {l.x}); }

// A number in a shape.
std::string filled(Body& l, const std::string& shape, double number) {
  const std::vector<double> one = {number};
  return l("ConstantOfShape", {shape}, {attribute("value", make_tensor(l.type(), {1}, one))});
}

// The shape of what is drawn: noise_shape, where -1 keeps an extent, else that of the input.
std::string drawn_shape(Body& l) {
  Integers shape = l.site.integers("noise_shape");
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] < 0) shape[d] = l.extent(static_cast<std::int64_t>(d));
  return shape.empty() ? l("Shape", {l.x}) : l.b.integers(shape);
}

// One draw for each channel of each example.
std::string dropped_channels(Body& l) {
  const std::string channels = l("ReduceMax", {l.x, l.b.integers(spatial_axes(l.site))});
  return l("Mul", {l.x, dropped(l, filled(l, l("Shape", {channels}), 1))});
}

// What is dropped becomes the limit of SELU, and all is scaled so that mean and variance stay.
std::string alpha_dropout(Body& l) {
  constexpr double kLimit = -1.0507009873554805 * 1.6732632423543772;
  const double rate = rate_of(l), kept = 1 - rate;
  const double scale = 1 / std::sqrt(kept * (1 + rate * kLimit * kLimit));
  const std::string gone =
      l("Equal", {l("Bernoulli", {filled(l, drawn_shape(l), kept)}), l.number(0)});
  const std::string value = l("Where", {gone, l.number(kLimit), l.x});
  return l("Add", {l("Mul", {value, l.number(scale)}), l.number(-scale * kLimit * rate)});
}

template <std::string (*Draw)(Body&)>
std::string in_training(Body& l) {
  return flag(l.site, "training") ? Draw(l) : l("Identity", {l.x});
}

std::string drop(Body& l) {
  if (!l.site.has("noise_shape")) return dropped(l, l.x);
  return l("Mul", {l.x, dropped(l, filled(l, drawn_shape(l), 1))});
}

std::string add_noise(Body& l) {
  return l("Add", {l.x, l("Mul", {noise(l), l.number(l.site.real("stddev"))})});
}

std::string scale_by_noise(Body& l) {
  const double deviation = std::sqrt(rate_of(l) / (1 - rate_of(l)));
  const std::string factor = l("Add", {l("Mul", {noise(l), l.number(deviation)}), l.number(1)});
  return l("Mul", {l.x, factor});
}

void require_noise_shape(Check& c) {
  const Integers shape = c.site.integers("noise_shape");
  if (!shape.empty()) c.rank("x", exactly(std::ssize(shape)));
  for (std::int64_t d = 0; d < std::ssize(shape) && c.violations.empty(); ++d) {
    const Dim wanted(shape[static_cast<std::size_t>(d)]);
    if (wanted.value != -1 && wanted.value != 1) c.extent("x", d, wanted, "noise_shape's extent");
  }
}

Layer drawing(std::string_view name, std::string_view summary, std::string (*build)(Body&),
              std::vector<Argument> arguments, int spatial = 0) {
  arguments.push_back(flag_argument("training", false));
  return {.name = name,
          .summary = summary,
          .arguments = std::move(arguments),
          .spatial = spatial,
          .require = spatial ? require_spatial : require_noise_shape,
          .build = build,
          .masks = Masks::pass,
          .draws = true};
}

}  // namespace

std::vector<Layer> random_layers() {
  const Argument rate = {"rate", Role::ratio}, shape = {"noise_shape", Role::sizes, {}, true};
  return {drawing("Dropout", "In training, zeros with probability `rate`; the others grow.",
                  in_training<drop>, {rate, shape}),
          drawing("AlphaDropout", "Drops elements in training, and keeps mean and variance.",
                  in_training<alpha_dropout>, {rate, shape}),
          drawing("GaussianDropout", "In training, x · (1 + noise).", in_training<scale_by_noise>,
                  {rate}),
          drawing("GaussianNoise", "In training, x + noise.", in_training<add_noise>,
                  {{"stddev", Role::factor}}),
          drawing("SpatialDropout1D", "Drops channels in training.", in_training<dropped_channels>,
                  {rate}, 1),
          drawing("SpatialDropout2D", "Drops channels in training.", in_training<dropped_channels>,
                  {rate}, 2),
          drawing("SpatialDropout3D", "Drops channels in training.", in_training<dropped_channels>,
                  {rate}, 3)};
}

}  // namespace assay::keras

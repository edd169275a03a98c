// Layers that draw while a network is trained, and do nothing when it predicts.
#include <cmath>

#include <fmt/format.h>

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

// A number in the shape of a value.
std::string filled(Body& l, const std::string& like, double number) {
  const std::vector<double> one = {number};
  return l("ConstantOfShape", {l("Shape", {like})},
           {attribute("value", make_tensor(l.type(), {1}, one))});
}

// The shape of what is drawn: noise_shape, where -1 keeps an extent, else that of the input.
std::string filled_as_drawn(Body& l, double number) {
  if (!l.site.has("noise_shape")) return filled(l, l.x, number);
  Integers shape = l.site.integers("noise_shape");
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] < 0) shape[d] = l.extent(static_cast<std::int64_t>(d));
  }
  const std::vector<double> one = {number};
  return l("ConstantOfShape", {l.b.integers(shape)},
           {attribute("value", make_tensor(l.type(), {1}, one))});
}

// One draw for each channel of each example.
std::string dropped_channels(Body& l) {
  const std::string channels = l("ReduceMax", {l.x, l.b.integers(spatial_axes(l.site))});
  return l("Mul", {l.x, dropped(l, filled(l, channels, 1))});
}

// What is dropped becomes the limit of SELU, and all is scaled so that mean and variance stay.
std::string alpha_dropout(Body& l) {
  constexpr double kLimit = -1.0507009873554805 * 1.6732632423543772;
  const double rate = rate_of(l), kept = 1 - rate;
  const double scale = 1 / std::sqrt(kept * (1 + rate * kLimit * kLimit));
  const std::string gone = l("Equal", {l("Bernoulli", {filled_as_drawn(l, kept)}), l.number(0)});
  const std::string value = l("Where", {gone, l.number(kLimit), l.x});
  return l("Add", {l("Mul", {value, l.number(scale)}), l.number(-scale * kLimit * rate)});
}

template <std::string (*Draw)(Body&)>
std::string in_training(Body& l) {
  return flag(l.site, "training") ? Draw(l) : l("Identity", {l.x});
}

std::string drop(Body& l) {
  const bool shared = l.site.has("noise_shape");
  return shared ? l("Mul", {l.x, dropped(l, filled_as_drawn(l, 1))}) : dropped(l, l.x);
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
  if (!c.site.has("noise_shape") || !c.site.rank(0)) return;
  const Integers shape = c.site.integers("noise_shape");
  if (!c.argument(std::ssize(shape) == *c.site.rank(0), "noise_shape", "an extent for each axis",
                  fmt::format("{}", shape.size())))
    return;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const Dim all = extent(c.site, static_cast<std::int64_t>(d));
    const bool fits = shape[d] == -1 || shape[d] == 1 || !all.known() || shape[d] == all.value;
    c.argument(fits, "noise_shape", "1 or the input's extent", fmt::format("{}", shape[d]));
  }
}

// That may draw for several elements at once.
Layer sharing(Layer layer) {
  layer.arguments.push_back({"noise_shape", Role::sizes, {}, true});
  layer.require = require_noise_shape;
  return layer;
}

Layer drawing(std::string_view name, std::string_view summary, std::string (*build)(Body&),
              Argument argument = {"rate", Role::ratio}, int spatial = 0) {
  return {.name = name,
          .summary = summary,
          .arguments = {std::move(argument), flag_argument("training", false)},
          .spatial = spatial,
          .require = spatial ? require_spatial : nullptr,
          .build = build,
          .masks = Masks::pass,
          .draws = true};
}

}  // namespace

std::vector<Layer> random_layers() {
  return {
      sharing(drawing("Dropout", "In training, zeros with probability `rate`; the others grow.",
                      in_training<drop>)),
      sharing(drawing("AlphaDropout", "Drops elements in training, and keeps mean and variance.",
                      in_training<alpha_dropout>)),
      drawing("GaussianDropout", "In training, x · (1 + noise).", in_training<scale_by_noise>),
      drawing("GaussianNoise", "In training, x + noise.", in_training<add_noise>,
              {"stddev", Role::factor}),
      drawing("SpatialDropout1D", "Drops channels in training.", in_training<dropped_channels>,
              {"rate", Role::ratio}, 1),
      drawing("SpatialDropout2D", "Drops channels in training.", in_training<dropped_channels>,
              {"rate", Role::ratio}, 2),
      drawing("SpatialDropout3D", "Drops channels in training.", in_training<dropped_channels>,
              {"rate", Role::ratio}, 3)};
}

}  // namespace assay::keras

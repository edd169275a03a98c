// Layers that are random while a network is trained, and do nothing when it predicts.
#include "layers/keras/body.h"
#include "layers/keras/layers.h"

namespace assay::keras {
namespace {

Layer idle(std::string_view name, std::string_view summary, Argument argument, int spatial = 0) {
  return {.name = name,
          .summary = summary,
          .arguments = {std::move(argument)},
          .spatial = spatial,
          .require = spatial ? require_spatial : nullptr,
          .build = [](Body& l) { return l("Identity", {l.x}); },
          .masks = Masks::pass};
}

Argument rate() { return {"rate", Role::ratio}; }

}  // namespace

std::vector<Layer> random_layers() {
  return {idle("Dropout", "Drops elements in training.", rate()),
          idle("AlphaDropout", "Drops elements in training, and keeps mean and variance.", rate()),
          idle("GaussianDropout", "Scales elements by noise in training.", rate()),
          idle("GaussianNoise", "Adds noise in training.", {"stddev", Role::factor}),
          idle("SpatialDropout1D", "Drops channels in training.", rate(), 1),
          idle("SpatialDropout2D", "Drops channels in training.", rate(), 2),
          idle("SpatialDropout3D", "Drops channels in training.", rate(), 3)};
}

}  // namespace assay::keras

// Dense layers, tables of vectors, masks, and layers around other layers.
#include "layers/keras/body.h"
#include "layers/keras/layers.h"

namespace assay::keras {
namespace {

Weights dense_weights(const Site& site) {
  const Dim units = site.integer("units");
  Weights weights = {{"kernel", {extent(site, -1), units}}};
  if (flag(site, "use_bias")) weights.push_back({"bias", {units}});
  return weights;
}

std::string dense(Body& l) { return l.activated(l.biased(l("MatMul", {l.x, l.weight("kernel")}))); }

Weights embedding_weights(const Site& site) {
  return {{"embeddings", {Dim(site.integer("input_dim")), Dim(site.integer("output_dim"))}}};
}

std::string embedding(Body& l) {
  const std::string rows =
      l("Cast", {l.x}, {attribute("to", static_cast<std::int64_t>(ElementType::i64))});
  return l("Gather", {l.weight("embeddings"), rows}, {attribute("axis", 0)});
}

// A step all of whose elements are the mask's value becomes zero.
std::string masking(Body& l) {
  const std::string other = l("Not", {l("Equal", {l.x, l.number(l.site.real("mask_value"))})});
  const std::string any =
      l("ReduceMax", {l("Cast", {other}, {attribute("to", static_cast<std::int64_t>(l.type()))}),
                      l.b.integers({-1})});
  return l("Mul", {l.x, any});
}

}  // namespace

std::vector<Layer> core_layers() {
  return {
      {.name = "InputLayer",
       .summary = "An input of the model.",
       .build = [](Body& l) { return l("Identity", {l.x}); }},
      {.name = "Dense",
       .summary = "activation(x · kernel + bias), along the last axis.",
       .arguments = {count("units"), activation(), use_bias()},
       .weights = dense_weights,
       .require =
           [](Check& c) { c.positive({"units"}), c.rank("x", at_least(2)), require_activation(c); },
       .build = dense},
      {.name = "Embedding",
       .summary = "The row of the table that each element of the input numbers.",
       .arguments = {count("input_dim"), count("output_dim")},
       .weights = embedding_weights,
       .require =
           [](Check& c) {
             c.positive({"input_dim", "output_dim"});
           },
       .build = embedding,
       .indices = true},
      {.name = "Masking",
       .summary = "x, but zero where all elements of a step are mask_value.",
       .arguments = {real("mask_value", Role::factor, 0)},
       .require = [](Check& c) { c.rank("x", at_least(2)); },
       .build = masking},
  };
}

}  // namespace assay::keras

// The table of Keras layers, and their entries in the catalogue's domain "keras".
#pragma once

#include <span>

#include "layers/keras/layer.h"
#include "ops/catalogue.h"

namespace assay::keras {

// A node of this domain is a layer: its attributes are the arguments, its inputs the layer's own
// and then its weights, as get_weights() lists them. The version is that of Keras, 2 or 3.
inline constexpr std::string_view kDomain = "keras";

std::span<const Layer> layers();                 // sorted by name
const Layer* find_layer(std::string_view name);  // by its name or its alias
// How many outputs a node of a layer has: more than one where its arguments ask for states or
// scores.
std::size_t outputs_of(const Node& node);
bool asks_for(const Node& node, std::string_view argument);  // a flag that is given and set
// The layers that an argument holds; null if there are none.
const Graph* layers_inside(const Node& node, std::string_view argument);
void use_layers();  // makes the catalogue find them; readers of Keras models call this

// What an attribute of this role holds.
AttributeKind kind_of(Role role);

// The families, one file each.
std::vector<Layer> activation_layers();
std::vector<Layer> attention_layers();
std::vector<Layer> border_layers();
std::vector<Layer> conv_layers();
std::vector<Layer> conv_recurrent_layers();
std::vector<Layer> core_layers();
std::vector<Layer> encoding_layers();
std::vector<Layer> heads_layers();
std::vector<Layer> image_layers();
std::vector<Layer> local_layers();
std::vector<Layer> merge_layers();
std::vector<Layer> norm_layers();
std::vector<Layer> pool_layers();
std::vector<Layer> random_layers();
std::vector<Layer> recurrent_layers();
std::vector<Layer> shape_layers();
std::vector<Layer> signal_layers();
std::vector<Layer> stacked_layers();
std::vector<Layer> wrapper_layers();

}  // namespace assay::keras

#include "semantics/import_keras.h"

#include <regex>
#include <unordered_map>

#include "formats/keras_masks.h"
#include "formats/keras_read.h"
#include "formats/keras_weights.h"
#include "graph/origin.h"
#include "layers/keras/layers.h"
#include "semantics/infer_types.h"

namespace assay {
namespace {

// The layer whose weights a call uses: its path without the numbers of calls.
std::string owner_of(const std::string& name) {
  static const std::regex kCall("@[0-9]+(?=/|$)");
  return std::regex_replace(name, kCall, "");
}

// Follows the layers one by one: the weights of the next need the shape that the last one gives.
class Declaration {
 public:
  explicit Declaration(Model& model) : model_(model) {
    for (const NamedType& input : model.graph.inputs) types_[input.name] = input.type;
  }

  void run() {
    for (Node& node : model_.graph.nodes) {
      if (node.domain == keras::kDomain) declare(node);
      follow(node);
    }
  }

 private:
  void declare(Node& node) {
    const keras::Layer* layer = keras::find_layer(node.op);
    if (!layer || !layer->weights) return;
    const auto version = static_cast<int>(model_.opsets.at(std::string(keras::kDomain)));
    const Lookup found = find_operator(keras::kDomain, node.op, version);
    const Node whole = found.schema ? complete(node, *found.schema) : node;
    Site site(whole, version);
    for (const std::string& input : node.inputs) site.inputs.push_back(known(input));
    const keras::Weights weights = layer->weights(site);
    const std::string owner = owner_of(node.name);
    auto [place, fresh] = names_.try_emplace(owner);
    if (fresh) {
      Node named = node;
      named.name = owner;
      place->second = keras::weight_names(named, version, weights.size());
      for (std::size_t i = 0; i < weights.size(); ++i) {
        add_input(place->second[i], weights[i], element(node, *layer));
      }
    }
    keras::attach_weights(place->second, version, node);
  }

  ElementType element(const Node& node, const keras::Layer& layer) const {
    const auto found = types_.find(node.inputs.empty() ? "" : node.inputs.front());
    const bool usable = found != types_.end() && found->second.is_tensor() && !layer.indices;
    return usable ? found->second.element : ElementType::f32;
  }

  void add_input(const std::string& name, const keras::Weight& weight, ElementType type) {
    NamedType input{name, ValueType::tensor(type, weight.shape), {}, {}};
    input.metadata.emplace_back(kOriginPart, "parameter");
    types_[name] = input.type;
    model_.graph.inputs.push_back(std::move(input));
  }

  Known known(const std::string& name) const {
    const auto found = types_.find(name);
    return found == types_.end() ? Known() : Known{true, found->second, {}, {}};
  }

  void follow(const Node& node) {
    Model one;
    one.ir_version = model_.ir_version;
    one.opsets = model_.opsets;
    one.graph.nodes = {node};
    for (const std::string& input : node.inputs) {
      if (!input.empty()) one.graph.inputs.push_back({input, types_[input], {}, {}});
    }
    for (const std::string& output : node.outputs) {
      one.graph.outputs.push_back({output, {}, {}, {}});
    }
    const ModelTypes found = infer_types(one);
    for (std::size_t i = 0; i < node.outputs.size() && i < found.outputs.size(); ++i) {
      types_[node.outputs[i]] = found.outputs[i].type;
    }
  }

  Model& model_;
  std::unordered_map<std::string, ValueType> types_;
  std::unordered_map<std::string, std::vector<std::string>> names_;
};

}  // namespace

Result<Model> import_keras(const std::string& path) {
  Result<Model> model = read_keras(path);
  if (model && path.ends_with(".json")) {
    Declaration(*model).run();
    keras::spread_masks(*model);
  }
  return model;
}

}  // namespace assay

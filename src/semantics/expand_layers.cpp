#include "semantics/expand_layers.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "graph/names.h"
#include "layers/keras/layers.h"
#include "semantics/infer_types.h"

namespace assay {
namespace {

using Renaming = std::unordered_map<std::string, std::string>;

std::int64_t newest_opset() {
  std::int64_t newest = 0;
  for (const Schema& schema : schemas()) {
    if (schema.domain.empty()) newest = std::max<std::int64_t>(newest, schema.since_version);
  }
  return newest;
}

// The values of the composition by their names in the model: its inputs and outputs as the layer
// has them, all others behind the layer's name.
Renaming rename(const Node& layer, const Graph& body) {
  Renaming names = {{"", ""}};
  for (std::size_t i = 0; i < body.inputs.size(); ++i) {
    names[body.inputs[i].name] = layer.inputs[i];
  }
  for (std::size_t i = 0; i < layer.outputs.size(); ++i) {
    names.try_emplace(body.outputs[i].name, layer.outputs[i]);
  }
  return names;
}

void splice(const Node& layer, Graph body, Graph& into) {
  Renaming names = rename(layer, body);
  const auto inner = [&](const std::string& name) -> const std::string& {
    return names.try_emplace(name, layer.outputs.front() + "::" + name).first->second;
  };
  for (NamedTensor& constant : body.initializers) {
    into.initializers.push_back({inner(constant.name), std::move(constant.tensor), {}, {}});
  }
  for (Node& node : body.nodes) {
    for (std::string& input : node.inputs) input = inner(input);
    for (std::string& output : node.outputs) output = inner(output);
    node.name = node.outputs.front() == layer.outputs.front() ? layer.name : node.outputs.front();
    into.nodes.push_back(std::move(node));
  }
  // A layer that passes its input on has no node that makes its value.
  for (std::size_t i = 0; i < layer.outputs.size(); ++i) {
    const std::string& made = names.at(body.outputs[i].name);
    if (made == layer.outputs[i] || layer.outputs[i].empty()) continue;
    Node copy;
    copy.op = "Identity";
    copy.name = layer.name;
    copy.inputs = {made};
    copy.outputs = {layer.outputs[i]};
    into.nodes.push_back(std::move(copy));
  }
}

bool is_concrete(const Known& known) {
  return !known.present ||
         (known.type.is_tensor() && known.type.dims && to_shape(*known.type.dims));
}

}  // namespace

Result<Model> expand_layers(const Model& model) {
  if (!model.opsets.contains(std::string(keras::kDomain))) return model;
  const ModelTypes types = infer_types(model);
  std::unordered_map<std::string_view, const Known*> known;
  for (const NamedValueType& value : types.values) known[value.name] = &value.known;
  const auto opset = model.opsets.find(std::string(keras::kDomain));
  Model result = model;
  result.graph.nodes.clear();
  bool all = true;
  for (const Node& node : model.graph.nodes) {
    const Lookup found = node.domain == keras::kDomain
                             ? find_operator(node.domain, node.op, opset->second)
                             : Lookup();
    if (!found.entry) {
      all = all && node.domain != keras::kDomain;
      result.graph.nodes.push_back(node);
      continue;
    }
    const Node whole = complete(node, *found.schema);
    Site site(whole, found.schema->since_version);
    for (const std::string& input : node.inputs) {
      site.inputs.push_back(input.empty() ? Known() : *known.at(input));
      if (is_concrete(site.inputs.back())) continue;
      return Error{"invalid",
                   fmt::format("{}: the shape of its input {} must be known to write the layer out",
                               printable(node.name), in_quotes(input)),
                   node.name};
    }
    splice(node, compose(found.entry->meaning.composition, site), result.graph);
  }
  if (all) result.opsets.erase(std::string(keras::kDomain));
  result.opsets.try_emplace("", newest_opset());
  for (std::size_t i = 0; i < result.graph.outputs.size() && i < types.outputs.size(); ++i) {
    result.graph.outputs[i].type = types.outputs[i].type;
  }
  return result;
}

}  // namespace assay

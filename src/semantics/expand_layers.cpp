#include "semantics/expand_layers.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "graph/names.h"
#include "layers/keras/layers.h"
#include "layers/splice.h"
#include "semantics/infer_types.h"

namespace assay {
namespace {

std::int64_t newest_opset() {
  std::int64_t newest = 0;
  for (const Schema& schema : schemas()) {
    if (schema.domain.empty()) newest = std::max<std::int64_t>(newest, schema.since_version);
  }
  return newest;
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
    splice({node.name, node.op, node.outputs.front(), node.inputs, node.outputs},
           compose(found.entry->meaning.composition, site), result.graph);
  }
  if (all) result.opsets.erase(std::string(keras::kDomain));
  result.opsets.try_emplace("", newest_opset());
  for (std::size_t i = 0; i < result.graph.outputs.size() && i < types.outputs.size(); ++i) {
    result.graph.outputs[i].type = types.outputs[i].type;
  }
  return result;
}

}  // namespace assay

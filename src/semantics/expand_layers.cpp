#include "semantics/expand_layers.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "formats/onnx_export.h"
#include "graph/names.h"
#include "layers/keras/layers.h"
#include "layers/splice.h"
#include "semantics/infer_types.h"
#include "semantics/sample_types.h"

namespace assay {
namespace {

// Graphs of layers are written in the newest operators. Those that they use have had their form
// since this operator set: what came later are types of elements, which other programs do not know.
constexpr std::int64_t kWrittenOpset = 21;

bool is_concrete(const Known& known) {
  return !known.present ||
         (known.type.is_tensor() && known.type.dims && to_shape(*known.type.dims));
}

bool has_rank(const Known& known) {
  return !known.present || (known.type.is_tensor() && known.type.dims);
}

// What a graph computes, whatever it declares of its inputs.
std::string bytes_of(const Graph& graph) {
  Model model;
  model.ir_version = 10;
  model.graph = graph;
  for (NamedType& input : model.graph.inputs) input.type = {};
  return *to_onnx(model);
}

// The graph of the layer; nullopt if it is another one for other numbers in the place of extents
// that are not known.
std::optional<Graph> body_of(const Lookup& found, const Site& site) {
  const auto composed = [&](const Site& concrete) -> std::optional<Graph> {
    Check check(concrete, *found.schema);
    check_node(check, *found.entry, *found.schema);
    if (!check.violations.empty()) return std::nullopt;
    return compose(found.entry->meaning.composition, concrete);
  };
  if (std::ranges::all_of(site.inputs, is_concrete)) return composed(site);
  if (!std::ranges::all_of(site.inputs, has_rank)) return std::nullopt;
  std::optional<Graph> first = composed(concrete_site(site, 0));
  const std::optional<Graph> second = composed(concrete_site(site, 1));
  if (!first || !second || bytes_of(*first) != bytes_of(*second)) return std::nullopt;
  return first;
}

Error needs_extents(const Node& node, const Site& site) {
  for (std::size_t i = 0; i < site.inputs.size(); ++i) {
    if (is_concrete(site.inputs[i])) continue;
    return {"invalid",
            fmt::format("{}: the shape of its input {} must be known to write the layer out",
                        printable(node.name), in_quotes(node.inputs[i])),
            node.name};
  }
  return {"invalid", fmt::format("{}: the layer cannot be written out", printable(node.name)),
          node.name};
}

}  // namespace

Result<Model> expand_layers(const Model& model) {
  if (!model.opsets.contains(std::string(keras::kDomain))) return model;
  const ModelTypes types = infer_types(model);
  std::unordered_map<std::string_view, const Known*> known;
  for (const NamedValueType& value : types.values) known[value.name] = value.known.get();
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
    }
    std::optional<Graph> body = body_of(found, site);
    if (!body) return needs_extents(node, site);
    splice({node.name, node.op, node.outputs.front(), node.inputs, node.outputs}, *std::move(body),
           result.graph);
  }
  if (all) result.opsets.erase(std::string(keras::kDomain));
  result.opsets[""] = kWrittenOpset;
  for (std::size_t i = 0; i < result.graph.outputs.size() && i < types.outputs.size(); ++i) {
    result.graph.outputs[i].type = types.outputs[i].type;
  }
  return result;
}

}  // namespace assay

#include "backends/layer_model.h"

#include <algorithm>

#include <fmt/format.h>

#include "formats/onnx_export.h"
#include "layers/keras/layers.h"
#include "semantics/expand_layers.h"

namespace assay {
namespace {

std::shared_ptr<const Graph> completed(const Graph& graph, std::int64_t version);

// With the arguments that nobody gave, here and in the layers inside.
Node completed(const Node& node, std::int64_t version) {
  const Lookup found = find_operator(node.domain, node.op, version);
  if (node.domain != keras::kDomain || !found.schema) return node;
  Node whole = complete(node, *found.schema);
  for (Attribute& one : whole.attributes) {
    // A number of an ONNX file has single precision; one of a tensor keeps all its digits.
    if (const auto* real = std::get_if<double>(&one.value)) {
      one.value = make_scalar(ElementType::f64, *real);
      continue;
    }
    if (const auto* inner = std::get_if<std::shared_ptr<const Graph>>(&one.value)) {
      one.value = completed(**inner, version);
    }
  }
  return whole;
}

std::shared_ptr<const Graph> completed(const Graph& graph, std::int64_t version) {
  auto whole = std::make_shared<Graph>(graph);
  for (Node& node : whole->nodes) node = completed(node, version);
  return whole;
}

}  // namespace

bool has_layers(const Model& model) { return model.opsets.contains(std::string(keras::kDomain)); }

std::vector<std::string> layer_names() {
  std::vector<std::string> names;
  for (const keras::Layer& layer : keras::layers()) {
    names.push_back(fmt::format("{}.{}", keras::kDomain, layer.name));
  }
  return names;
}

bool is_layer_name(std::string_view name) {
  return name.starts_with(keras::kDomain) && name.substr(keras::kDomain.size()).starts_with('.');
}

Result<std::string> layers_to_onnx(const Model& model) {
  Model whole = model;
  whole.graph = *completed(model.graph, model.opsets.at(std::string(keras::kDomain)));
  return to_onnx(whole);
}

Result<std::string> operators_to_onnx(const Model& model, const NamedValues& inputs) {
  Model shaped = model;
  for (NamedType& input : shaped.graph.inputs) {
    const auto given = std::ranges::find(inputs, input.name, &NamedValues::value_type::first);
    if (given != inputs.end() && given->second.is_tensor()) {
      input.type = given->second.value_type();
    }
  }
  const Result<Model> expanded = expand_layers(shaped);
  return expanded ? to_onnx(*expanded) : expanded.error();
}

}  // namespace assay

#include "layers/keras/example.h"

#include "layers/keras/body.h"
#include "layers/keras/layers.h"

namespace assay::keras {
namespace {

constexpr std::int64_t kBatch = 1, kVersion = 3;

std::shared_ptr<const Graph> inner_layer(std::string_view outer) {
  auto graph = std::make_shared<Graph>();
  Node node;
  node.domain = kDomain;
  node.op = outer == "Bidirectional"     ? "SimpleRNN"
            : outer == "StackedRNNCells" ? "LSTMCell"
                                         : "Dense";
  node.name = "inner";
  node.inputs = {"x"};
  node.outputs = {"y"};
  node.attributes = {attribute("units", 4)};
  graph->nodes = {node};
  graph->inputs = {{"x", {}, {}, {}}};
  graph->outputs = {{"y", {}, {}, {}}};
  return graph;
}

// A value for an argument that must be given.
AttributeValue some_value(const Layer& layer, const Argument& argument, std::int64_t rank) {
  switch (argument.role) {
    case Role::sizes:
    case Role::pads:
      return argument.name == "target_shape" || argument.name == "output_shape" ? Integers{-1, 4}
                                                                                : Integers{2};
    case Role::permutation: {
      Integers order;
      for (std::int64_t axis = rank - 1; axis >= 1; --axis) order.push_back(axis);
      return order;
    }
    case Role::axes:
      return Integers{1};
    case Role::ratio:
      return 0.5;
    case Role::epsilon:
    case Role::factor:
    case Role::bounds:
      return 1.0;
    case Role::choice:
      return std::string("relu");
    case Role::factors:
      return std::vector<double>{-0.5, 0.5};
    case Role::table:
      return Integers{5, 2, 7};
    case Role::text:
      return std::string("abc,cd->abd");
    case Role::body:
      return inner_layer(layer.name);
    default:
      return std::int64_t{4};
  }
}

std::optional<LayerExample> try_shape(const Layer& layer, std::int64_t rank, std::int64_t extent) {
  LayerExample example;
  Node node;
  node.domain = kDomain;
  node.op = layer.name;
  node.name = layer.name;
  for (const Argument& argument : layer.arguments) {
    if (argument.fallback || argument.optional) continue;
    node.set(std::string(argument.name), some_value(layer, argument, rank));
  }
  Dims dims(static_cast<std::size_t>(rank), Dim(extent));
  dims.front() = kBatch;
  const bool variadic = layer.inputs.front() == "inputs";
  const bool attends = layer.inputs.front() == "query";
  for (std::size_t i = 0; i < std::max<std::size_t>(layer.inputs.size(), variadic ? 2 : 1); ++i) {
    const bool given = i == 0 || variadic || (attends && i == 1);
    node.inputs.push_back(given ? "x" : "");
    example.inputs.push_back(given ? Known{true, ValueType::tensor(ElementType::f32, dims), {}, {}}
                                   : Known());
  }
  node.outputs = {"y"};
  const Lookup found = find_operator(kDomain, layer.name, kVersion);
  if (!found.schema) return std::nullopt;
  example.node = complete(node, *found.schema);
  Site site(example.node, found.schema->since_version);
  site.inputs = example.inputs;
  if (layer.weights) example.weights = layer.weights(site);
  for (const Weight& weight : example.weights) {
    site.inputs.push_back({true, ValueType::tensor(ElementType::f32, weight.shape), {}, {}});
  }
  Check check(site, *found.schema);
  check_node(check, *found.entry, *found.schema);
  if (!check.violations.empty()) return std::nullopt;
  example.inputs = site.inputs;
  example.graph = compose(found.entry->meaning.composition, site);
  return example;
}

}  // namespace

std::optional<LayerExample> example_of(const Layer& layer) {
  use_layers();
  // GroupNormalization has 32 groups unless one says otherwise, STFTSpectrogram frames of 256, and
  // MelSpectrogram of 2048.
  for (std::int64_t extent : {6, 32, 256, 2048}) {
    for (std::int64_t rank : {layer.spatial + 2, 3, 2, 4, 5, 6}) {
      if (auto example = try_shape(layer, rank, extent)) return example;
    }
  }
  return std::nullopt;
}

}  // namespace assay::keras

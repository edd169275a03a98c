#include "cli/layers_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/ops_page.h"
#include "cli/terminal.h"
#include "layers/keras/example.h"
#include "layers/keras/layers.h"

namespace assay {
namespace {

constexpr const char* kHead = R"(# Reference of Keras' layers

Written by `make docs` from the entries in `src/layers/keras`. Each layer has an example: the graph of
the catalogue's operators that it means with the arguments it must have, on an input of the shape that
is shown. With other arguments and shapes the same entry gives another graph.
)";

std::string value_text(const AttributeValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *integer);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{:.6g}", *real);
  if (const auto* text = std::get_if<std::string>(&value)) return fmt::format("\"{}\"", *text);
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
    return fmt::format("[{}]", fmt::join(*list, ", "));
  }
  if (const auto* list = std::get_if<std::vector<double>>(&value)) {
    return fmt::format("[{:.6g}]", fmt::join(*list, ", "));
  }
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
    return fmt::format("[{}]", fmt::join(*list, ", "));
  }
  if (const auto* graph = std::get_if<std::shared_ptr<const Graph>>(&value)) {
    return (*graph)->nodes.front().op;
  }
  if (const auto* tensor = std::get_if<Tensor>(&value)) {
    return tensor->size() == 1 ? fmt::format("{:.6g}", tensor->real(0)) : "a tensor";
  }
  return "…";
}

std::string constant_text(const Tensor& tensor) {
  if (tensor.size() > 12) return fmt::format("a constant of shape {}", to_text(tensor.shape()));
  const std::vector<double> values = tensor.reals();
  return tensor.rank() == 0 ? fmt::format("{:.6g}", values.front())
                            : fmt::format("[{:.6g}]", fmt::join(values, ", "));
}

using Shown = std::map<std::string, std::string>;

// What the values of an example are called: inputs and weights by their names, numbers by
// themselves.
Shown shown_names(const keras::Layer& layer, const keras::LayerExample& example) {
  Shown names;
  const std::size_t own = example.inputs.size() - example.weights.size();
  const bool variadic = layer.inputs.front() == "inputs";
  for (std::size_t i = 0; i < example.graph.inputs.size(); ++i) {
    std::string& name = names[example.graph.inputs[i].name];
    if (i >= own) {
      name = example.weights[i - own].name;
    } else {
      name = variadic ? fmt::format("x{}", i + 1) : std::string(layer.inputs[i]);
    }
  }
  for (const NamedTensor& constant : example.graph.initializers) {
    names[constant.name] = constant_text(constant.tensor);
  }
  return names;
}

std::string shown(const Shown& names, const std::string& value) {
  if (value.empty()) return "_";
  const auto found = names.find(value);
  return found == names.end() ? value : found->second;
}

std::string graph_text(const keras::Layer& layer, const keras::LayerExample& example) {
  Shown names = shown_names(layer, example);
  const std::string& result = example.graph.outputs.front().name;
  std::string text;
  for (const Node& node : example.graph.nodes) {
    std::vector<std::string> outputs, arguments;
    for (const std::string& output : node.outputs) {
      outputs.push_back(output == result ? "y" : shown(names, output));
      if (output == result) names[output] = "y";
    }
    for (const std::string& input : node.inputs) arguments.push_back(shown(names, input));
    for (const Attribute& attribute : node.attributes) {
      arguments.push_back(fmt::format("{}={}", attribute.name, value_text(attribute.value)));
    }
    text +=
        fmt::format("{} = {}({})\n", fmt::join(outputs, ", "), node.op, fmt::join(arguments, ", "));
  }
  if (shown(names, result) != "y") text += fmt::format("y = {}\n", shown(names, result));
  return text;
}

std::string arguments_table(const keras::Layer& layer) {
  if (layer.arguments.empty()) return "";
  std::string text = "| argument | role | default |\n|---|---|---|\n";
  for (const keras::Argument& argument : layer.arguments) {
    std::string fallback = argument.fallback   ? value_text(*argument.fallback)
                           : argument.optional ? "none"
                                               : "must be given";
    if (argument.fallback_before_3)
      fallback += fmt::format(" (Keras 2: {})", value_text(*argument.fallback_before_3));
    text += fmt::format("| `{}` | {} | {} |\n", argument.name, to_text(argument.role), fallback);
  }
  return text + "\n";
}

std::string example_text(const keras::Layer& layer) {
  const auto example = keras::example_of(layer);
  if (!example) return "";
  std::vector<std::string> weights;
  for (const keras::Weight& weight : example->weights) {
    weights.push_back(fmt::format("`{}` {}", weight.name, to_text(weight.shape)));
  }
  std::string text = fmt::format("On an input of shape {}", to_text(*example->inputs[0].type.dims));
  if (!weights.empty()) text += fmt::format(", with weights {}", fmt::join(weights, ", "));
  return fmt::format("{}:\n\n```\n{}```\n", text, graph_text(layer, *example));
}

}  // namespace

nlohmann::ordered_json layer_json(const keras::Layer& layer) {
  nlohmann::ordered_json arguments = nlohmann::ordered_json::object();
  for (const keras::Argument& argument : layer.arguments) {
    arguments[std::string(argument.name)] = to_text(argument.role);
  }
  return {{"domain", keras::kDomain}, {"name", layer.name},
          {"alias", layer.alias},     {"since", layer.since},
          {"summary", layer.summary}, {"arguments", std::move(arguments)}};
}

std::string layer_list() {
  Table table;
  for (const keras::Layer& layer : keras::layers()) {
    table.row({std::string(layer.name), std::string(layer.summary)});
  }
  return table.text();
}

std::string layer_page(const keras::Layer& layer) {
  std::string text = fmt::format("## {}\n\n{}", layer.name, layer.summary);
  if (!layer.alias.empty()) text += fmt::format(" Also called {}.", layer.alias);
  if (layer.since > 2) text += fmt::format(" Since Keras {}.", layer.since);
  return text + "\n\n" + arguments_table(layer) + example_text(layer);
}

std::string layer_reference() {
  std::string text = kHead;
  for (const keras::Layer& layer : keras::layers()) text += "\n" + layer_page(layer);
  return text;
}

}  // namespace assay

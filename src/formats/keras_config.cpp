#include "formats/keras_config.h"

#include <algorithm>

#include <fmt/format.h>

#include "formats/failure.h"
#include "graph/names.h"
#include "layers/keras/layers.h"

namespace assay {
namespace {

using Element = simdjson::dom::element;
using Kind = simdjson::dom::element_type;

// Keys that say nothing about what a layer computes when it predicts.
constexpr std::string_view kSilentKeys[] = {"name",
                                            "trainable",
                                            "dtype",
                                            "batch_input_shape",
                                            "batch_shape",
                                            "input_shape",
                                            "input_length",
                                            "input_dtype",
                                            "seed",
                                            "implementation",
                                            "unroll",
                                            "stateful",
                                            "momentum",
                                            "renorm",
                                            "renorm_clipping",
                                            "renorm_momentum",
                                            "unit_forget_bias",
                                            "dropout",
                                            "recurrent_dropout",
                                            "sparse",
                                            "ragged",
                                            "synchronized",
                                            "fused",
                                            "autocast",
                                            "build_config",
                                            "query_shape",
                                            "key_shape",
                                            "value_shape",
                                            "flash_attention",
                                            "window",
                                            "periodic",
                                            "scaling",
                                            "num_bins",
                                            "vocabulary_size",
                                            "vocabulary_dtype",
                                            "max_tokens",
                                            "oov_token",
                                            "reverse_dtype"};

bool is_silent(std::string_view key) {
  return key.ends_with("_initializer") || key.ends_with("_regularizer") ||
         key.ends_with("_constraint") ||
         std::ranges::find(kSilentKeys, key) != std::end(kSilentKeys);
}

// Of those, the ones that decide how it computes that: a backend is told, in the node's metadata.
constexpr std::string_view kMannerKeys[] = {"unroll", "stateful", "implementation", "dropout",
                                            "recurrent_dropout"};

bool is_manner(std::string_view key) {
  return std::ranges::find(kMannerKeys, key) != std::end(kMannerKeys);
}

[[noreturn]] void refuse(std::string_view key) {
  throw FormatError("unreadable",
                    fmt::format("argument {} is of no form that Keras writes", in_quotes(key)));
}

void flatten(std::string_view key, Element value, std::vector<std::int64_t>& numbers) {
  if (value.type() == Kind::ARRAY) {
    const simdjson::dom::array parts = value;
    numbers.reserve(numbers.size() + parts.size());
    for (Element part : parts) flatten(key, part, numbers);
  } else if (value.type() == Kind::INT64) {
    numbers.push_back(std::int64_t(value));
  } else if (value.is_null()) {  // an extent that is left open
    numbers.push_back(-1);
  } else {
    refuse(key);
  }
}

double number(std::string_view key, Element value) {
  double found = 0;
  if (value.get(found) != simdjson::SUCCESS) refuse(key);
  return found;
}

std::int64_t integer(std::string_view key, Element value) {
  switch (value.type()) {
    case Kind::BOOL:
      return bool(value) ? 1 : 0;
    case Kind::INT64:
      return std::int64_t(value);
    case Kind::ARRAY:  // an axis in a list of its own
      if (simdjson::dom::array(value).size() == 1) return integer(key, value.at(0));
      break;
    default:
      break;
  }
  refuse(key);
}

// A function may be written as an object that names it.
std::string text(std::string_view key, Element value) {
  if (value.type() == Kind::OBJECT && value["config"].get(value) != simdjson::SUCCESS) refuse(key);
  if (value.type() != Kind::STRING) refuse(key);
  return std::string(std::string_view(value));
}

// A layer as {"class_name": …, "config": …}; case lines say "class".
Node read_described(std::string name, Element described) {
  std::string_view class_name;
  if (described["class_name"].get(class_name) != simdjson::SUCCESS &&
      described["class"].get(class_name) != simdjson::SUCCESS) {
    throw FormatError("unreadable", "a layer inside another one has no class");
  }
  Element config;
  if (described["config"].get(config) != simdjson::SUCCESS) {
    throw FormatError("unreadable", "a layer inside another one has no config");
  }
  return read_layer(class_name, std::move(name), config);
}

// A layer, or several of which each takes what the one before gives.
std::shared_ptr<const Graph> read_inner(std::string_view key, Element described) {
  auto graph = std::make_shared<Graph>();
  graph->inputs.push_back({"x", {}, {}, {}});
  std::string value = "x";
  const auto add = [&](Element one) {
    if (one.type() != Kind::OBJECT) refuse(key);
    const std::size_t place = graph->nodes.size();
    Node& node = graph->nodes.emplace_back(
        read_described(place == 0 ? std::string(key) : fmt::format("{}{}", key, place), one));
    node.inputs = {value};
    value = place == 0 ? "y" : fmt::format("y{}", place);
    node.outputs = {value};
  };
  simdjson::dom::array several;
  if (described.get(several) == simdjson::SUCCESS) {
    for (Element one : several) add(one);
  } else {
    add(described);
  }
  if (graph->nodes.empty()) refuse(key);
  graph->outputs.push_back({value, {}, {}, {}});
  return graph;
}

void flatten(std::string_view key, Element value, std::vector<double>& numbers) {
  if (value.type() == Kind::ARRAY) {
    for (Element part : simdjson::dom::array(value)) flatten(key, part, numbers);
  } else {
    numbers.push_back(number(key, value));
  }
}

AttributeValue read_value(std::string_view key, AttributeKind kind, Element value) {
  switch (kind) {
    case AttributeKind::integers: {
      std::vector<std::int64_t> numbers;
      flatten(key, value, numbers);
      return numbers;
    }
    case AttributeKind::reals: {
      std::vector<double> numbers;
      flatten(key, value, numbers);
      return numbers;
    }
    case AttributeKind::real:
      return number(key, value);
    case AttributeKind::text:
      return text(key, value);
    case AttributeKind::graph:
      return read_inner(key, value);
    default:
      return integer(key, value);
  }
}

void read_argument(const keras::Layer& layer, std::string_view key, Element value, Node& node) {
  const auto argument = std::ranges::find(layer.arguments, key, &keras::Argument::name);
  if (argument == layer.arguments.end()) {
    if (is_manner(key)) node.metadata.add(fmt::format("keras.{}", key), simdjson::minify(value));
    // Python's None is what a later Keras writes for an argument that it does not use.
    if (is_silent(key) || value.is_null()) return;
    node.attributes.push_back({std::string(key), simdjson::minify(value)});
  } else if (!value.is_null()) {
    const AttributeKind kind = keras::kind_of(argument->role);
    node.attributes.push_back({std::string(key), read_value(key, kind, value)});
  } else if (argument->name.ends_with("activation")) {
    node.attributes.push_back(attribute(std::string(key), "linear"));
  } else if (argument->role == Role::choice && argument->fallback && key != "data_format") {
    node.attributes.push_back(attribute(std::string(key), "none"));
  }
}

void read_arguments(const keras::Layer& layer, Element config, Node& node) {
  const simdjson::dom::object arguments = config;
  node.attributes.reserve(node.attributes.size() + arguments.size());
  for (const auto& [key, value] : arguments) read_argument(layer, key, value, node);
}

// RNN around a cell is the layer of that cell.
Node read_wrapped_cell(std::string name, Element config) {
  Element cell;
  if (config["cell"].get(cell) != simdjson::SUCCESS) refuse("cell");
  Node node = read_described(std::move(name), cell);
  if (node.op.ends_with("Cell")) node.op.resize(node.op.size() - 4);
  const keras::Layer* layer = keras::find_layer(node.op);
  if (!layer) return node;
  Node outer;
  read_arguments(*layer, config, outer);
  for (Attribute& argument : outer.attributes) {
    if (argument.name != "cell") node.set(std::move(argument.name), std::move(argument.value));
  }
  return node;
}

void measure(Element value, Shape& shape) {
  while (value.type() == Kind::ARRAY) {
    const simdjson::dom::array rows = value;
    shape.push_back(static_cast<std::int64_t>(rows.size()));
    if (shape.size() > 32) throw FormatError("unreadable", "a tensor has more than 32 axes");
    if (rows.begin() == rows.end()) return;
    value = *rows.begin();
  }
}

double element(Element value) {
  double number = 0;
  if (value.get(number) != simdjson::SUCCESS) {
    throw FormatError("unreadable", "an element of a tensor is not a number");
  }
  return number;
}

// Returns where the next elements go.
double* fill(Element value, std::span<const std::int64_t> shape, double* to) {
  if (shape.empty()) return *to = element(value), to + 1;
  simdjson::dom::array rows;
  if (value.get(rows) != simdjson::SUCCESS ||
      static_cast<std::int64_t>(rows.size()) != shape.front()) {
    throw FormatError("unreadable", "the rows of a tensor are of different lengths");
  }
  if (shape.size() == 1) {
    for (Element one : rows) *to++ = element(one);
  } else {
    for (Element row : rows) to = fill(row, shape.subspan(1), to);
  }
  return to;
}

}  // namespace

static Node read_plain(std::string_view class_name, std::string name, Element config) {
  Node node;
  node.domain = keras::kDomain;
  node.name = std::move(name);
  const keras::Layer* layer = keras::find_layer(class_name);
  node.op = layer ? layer->name : class_name;
  if (layer) read_arguments(*layer, config, node);
  return node;
}

Node read_layer(std::string_view class_name, std::string name, Element config) {
  if (config.type() != Kind::OBJECT) throw FormatError("unreadable", "a layer has no config");
  return class_name == "RNN" ? read_wrapped_cell(std::move(name), config)
                             : read_plain(class_name, std::move(name), config);
}

// Whether a layer, or one inside it, computes something else in training than when it predicts.
static bool minds_training(const Node& node) {
  const keras::Layer* layer = keras::find_layer(node.op);
  if (!layer || layer->learns || layer->draws) return true;
  for (const auto& [key, value] : node.metadata) {
    const bool drops = key == "keras.dropout" || key == "keras.recurrent_dropout";
    if (drops && value != "0" && value != "0.0") return true;
  }
  for (const Attribute& one : node.attributes) {
    const auto* inner = std::get_if<std::shared_ptr<const Graph>>(&one.value);
    if (inner && std::ranges::any_of((*inner)->nodes, minds_training)) return true;
  }
  return false;
}

void read_option(std::string_view name, Element value, Node& node) {
  const keras::Layer* layer = keras::find_layer(node.op);
  if (!layer || (name == "training" && !minds_training(node))) return;
  read_argument(*layer, name, value, node);
}

Tensor read_tensor(Element value) {
  Shape shape;
  measure(value, shape);
  if (!checked_element_count(shape)) throw FormatError("unreadable", "a tensor is too large");
  Tensor tensor = Tensor::uninitialized(ElementType::f64, std::move(shape));
  fill(value, tensor.shape(), tensor.mutate<double>().data());
  return tensor;
}

}  // namespace assay

#include "layers/keras/layers.h"

#include <algorithm>
#include <deque>

#include <fmt/format.h>

#include "graph/name_index.h"
#include "layers/keras/body.h"

namespace assay::keras {
namespace {

constexpr int kNewest = 3;

using Family = std::vector<Layer> (*)();
constexpr Family kFamilies[] = {
    activation_layers, attention_layers, border_layers,  conv_layers,    conv_recurrent_layers,
    core_layers,       encoding_layers,  heads_layers,   image_layers,   local_layers,
    merge_layers,      norm_layers,      pool_layers,    random_layers,  recurrent_layers,
    shape_layers,      signal_layers,    stacked_layers, wrapper_layers,
};

constexpr std::string_view kFloats[] = {"tensor(double)", "tensor(float)", "tensor(float16)",
                                        "tensor(bfloat16)"};
constexpr std::string_view kNumbers[] = {"tensor(double)",   "tensor(float)", "tensor(float16)",
                                         "tensor(bfloat16)", "tensor(int64)", "tensor(int32)",
                                         "tensor(int16)",    "tensor(int8)",  "tensor(uint8)"};
constexpr std::string_view kTruths[] = {
    "tensor(bool)",  "tensor(double)", "tensor(float)", "tensor(float16)", "tensor(bfloat16)",
    "tensor(int64)", "tensor(int32)",  "tensor(int16)", "tensor(int8)",    "tensor(uint8)"};
constexpr TypeConstraint kConstraints[] = {
    {"T", kFloats}, {"I", kNumbers}, {"N", kNumbers}, {"M", kTruths}};

std::vector<Layer> join() {
  std::vector<Layer> all;
  for (Family family : kFamilies) {
    for (Layer& layer : family()) all.push_back(std::move(layer));
  }
  std::ranges::sort(all, {}, &Layer::name);
  return all;
}

void check_weight(Check& c, const Weight& expected, std::size_t input) {
  const Dims* found = c.site.dims(input);
  if (!found) return;
  bool fits = found->size() == expected.shape.size();
  for (std::size_t d = 0; fits && d < found->size(); ++d) {
    fits = !(*found)[d].differs_from(expected.shape[d]);
  }
  if (fits) return;
  c.that(false, "Weight Shape Error", "weight-shape", to_text(expected.shape), to_text(*found),
         kShapeBadness * shape_distance(*found, expected.shape),
         fmt::format("{} needs its weight {} of shape {}, but it has shape {}", c.site.node().op,
                     expected.name, to_text(expected.shape), to_text(*found)));
}

void check_weights(Check& c, const Layer& layer) {
  const Weights expected = layer.weights ? layer.weights(c.site) : Weights();
  const std::size_t first = layer.inputs.size();
  const std::size_t given = c.site.input_count() - std::min(c.site.input_count(), first);
  const bool variadic = layer.inputs.front() == "inputs";
  if (given > expected.size() && !variadic) {
    c.that(false, "Weight Shape Error", "weight-count", fmt::format("{}", expected.size()),
           fmt::format("{}", given), kShapeBadness,
           fmt::format("{} has {} weights, but the model gives {}", layer.name, expected.size(),
                       given));
    return;
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (c.site.has_input(first + i)) {
      check_weight(c, expected[i], first + i);
    } else if (std::isnan(expected[i].initial)) {
      c.that(false, "Weight Shape Error", "weight-missing", to_text(expected[i].shape), "none",
             kShapeBadness,
             fmt::format("{} needs its weight {} of shape {}, but the model gives none", layer.name,
                         expected[i].name, to_text(expected[i].shape)));
    }
  }
}

void require(Check& c) {
  const Layer& layer = layer_of(c.site);
  if (layer.require) layer.require(c);
  if (c.violations.empty()) check_weights(c, layer);
}

void build(Builder& b) {
  const Layer& layer = layer_of(b.site());
  Body body(b, layer);
  b.output(0, layer.build(body));
}

// What an entry of the catalogue refers to, kept where it does not move.
struct Entry {
  Operator op;
  std::vector<FormalParameter> inputs, outputs;
  std::deque<std::vector<AttributeFormal>> attributes;  // by version
  std::vector<Schema> versions;                         // from the oldest
};

AttributeFormal to_formal(const Argument& argument, int version) {
  AttributeFormal formal{argument.name, kind_of(argument.role), false, false, 0, 0, "", {}, {}, {}};
  formal.required = !argument.fallback && !argument.optional;
  if (!argument.fallback) return formal;
  formal.has_default = true;
  const bool other = version < 3 && argument.fallback_before_3;
  const AttributeValue& value = other ? *argument.fallback_before_3 : *argument.fallback;
  if (const auto* real = std::get_if<double>(&value)) formal.real = *real;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) formal.integer = *integer;
  if (const auto* text = std::get_if<std::string>(&value)) formal.text = *text;
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) formal.integers = *list;
  return formal;
}

void fill_schemas(const Layer& layer, Entry& entry) {
  const bool any = layer.inputs.front() == "inputs";
  for (std::string_view input : layer.inputs) {
    const bool first = input == layer.inputs.front();
    const std::string_view type = input == layer.truths ? "M" : layer.indices ? "I" : "T";
    entry.inputs.push_back({input, type,
                            any     ? Arity::variadic
                            : first ? Arity::single
                                    : Arity::optional,
                            true, 1});
  }
  if (!any) entry.inputs.push_back({"weights", "T", Arity::variadic, true, 0});
  entry.outputs.push_back({"y", layer.indices ? "N" : "T", Arity::single, true, 1});
  if (layer.outputs > 1) entry.outputs.push_back({"states", "T", Arity::variadic, true, 0});
  for (int version = layer.since; version <= kNewest; ++version) {
    std::vector<AttributeFormal>& formals = entry.attributes.emplace_back();
    for (const Argument& argument : layer.arguments)
      formals.push_back(to_formal(argument, version));
    std::ranges::sort(formals, {}, &AttributeFormal::name);
    entry.versions.push_back({kDomain, layer.name, version, false, entry.inputs, entry.outputs, 1,
                              kNoLimit, 1, layer.outputs, kConstraints, formals});
    entry.op.versions.push_back(version);
  }
}

struct Table {
  std::vector<Layer> layers = join();
  std::deque<Entry> entries;
  NameIndex names;                  // of layers, and their aliases
  std::vector<std::size_t> places;  // by the name's number

  Table() {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const Layer& layer = layers[i];
      Entry& entry = entries.emplace_back();
      entry.op.name = layer.name;
      entry.op.domain = kDomain;
      entry.op.summary = layer.summary;
      for (const Argument& argument : layer.arguments) {
        entry.op.attributes.push_back({argument.name, argument.role});
      }
      entry.op.require = require;
      entry.op.meaning = function(build);
      if (layer.draws) entry.op.meaning.pattern = Pattern::random;
      entry.op.variants = layer.variants;
      fill_schemas(layer, entry);
      add_name(layer.name, i);
      if (!layer.alias.empty()) add_name(layer.alias, i);
    }
  }

  void add_name(std::string_view name, std::size_t place) {
    ASSAY_CHECK(names.add(name).second);
    places.push_back(place);
  }

  std::optional<std::size_t> find(std::string_view name) const {
    const int number = names.find(name);
    return number < 0 ? std::nullopt : std::optional(places[static_cast<std::size_t>(number)]);
  }
};

const Table& table() {
  static const Table kTable;
  return kTable;
}

Lookup find_entry(std::string_view name, std::int64_t version) {
  const auto place = table().find(name);
  if (!place) return {};
  const Entry& entry = table().entries[*place];
  for (auto schema = entry.versions.rbegin(); schema != entry.versions.rend(); ++schema) {
    if (schema->since_version <= version) return {&entry.op, &*schema};
  }
  return {};
}

}  // namespace

std::span<const Layer> layers() { return table().layers; }

const Layer* find_layer(std::string_view name) {
  const auto place = table().find(name);
  return place ? &table().layers[*place] : nullptr;
}

bool asks_for(const Node& node, std::string_view argument) {
  const AttributeValue* value = node.find(argument);
  const auto* flag = value ? std::get_if<std::int64_t>(value) : nullptr;
  return flag && *flag != 0;
}

const Graph* layers_inside(const Node& node, std::string_view argument) {
  const AttributeValue* value = node.find(argument);
  const auto* graph = value ? std::get_if<std::shared_ptr<const Graph>>(value) : nullptr;
  return graph && !(*graph)->nodes.empty() ? graph->get() : nullptr;
}

std::size_t outputs_of(const Node& node) {
  const Layer* layer = find_layer(node.op);
  if (!layer) return 1;
  if (layer->results) return layer->results(node);
  const bool all = asks_for(node, "return_state") || asks_for(node, "return_attention_scores");
  return all ? static_cast<std::size_t>(layer->outputs) : 1;
}

void use_layers() {
  [[maybe_unused]] static const bool kAdded = (add_domain(kDomain, find_entry), true);
}

AttributeKind kind_of(Role role) {
  switch (role) {
    case Role::sizes:
    case Role::pads:
    case Role::axes:
    case Role::permutation:
    case Role::table:
      return AttributeKind::integers;
    case Role::epsilon:
    case Role::ratio:
    case Role::factor:
    case Role::bounds:
      return AttributeKind::real;
    case Role::factors:
      return AttributeKind::reals;
    case Role::choice:
    case Role::text:
      return AttributeKind::text;
    case Role::body:
      return AttributeKind::graph;
    default:
      return AttributeKind::integer;
  }
}

}  // namespace assay::keras

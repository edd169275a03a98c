#include "formats/keras_described.h"

#include <algorithm>
#include <array>
#include <map>
#include <regex>
#include <set>

#include <fmt/format.h>

#include "formats/failure.h"
#include "graph/names.h"

namespace assay::keras {
namespace {

using Kind = simdjson::dom::element_type;
using Object = simdjson::dom::object;
using Array = simdjson::dom::array;

[[noreturn]] void refuse(const std::string& what) { throw FormatError("unreadable", what); }

std::string text_or(Json object, std::string_view key, std::string fallback) {
  std::string_view found;
  return object[key].get(found) == simdjson::SUCCESS ? std::string(found) : std::move(fallback);
}

// Keras' own classes have no package; others say theirs, and what lies outside of keras.layers is
// an operation on tensors.
std::string full_class(Json described, std::string name) {
  std::string registered = text_or(described, "registered_name", "");
  if (registered.find('>') != std::string::npos) return registered;
  Json module;
  if (described["module"].get(module) != simdjson::SUCCESS) return name;
  const std::string text = text_or(described, "module", "");
  const bool own = text.starts_with("keras") || text.starts_with("tf_keras") ||
                   text.starts_with("tensorflow.python.keras");
  if (own && text.find(".ops") == std::string::npos) return name;
  return fmt::format("{}.{}", text.empty() ? "custom" : text, name);
}

// ["dense", 0, 0] and, in Keras 2, arguments of the call behind it.
bool is_reference(Json value) {
  Array parts;
  return value.get(parts) == simdjson::SUCCESS && parts.size() >= 3 &&
         value.at(0).type() == Kind::STRING && value.at(1).type() == Kind::INT64 &&
         value.at(2).type() == Kind::INT64;
}

TensorReference reference(Json value) {
  return {std::string(std::string_view(value.at(0))), std::int64_t(value.at(1)),
          std::int64_t(value.at(2))};
}

// All tensors in a structure of lists and maps, in order; false if it has other things too.
bool collect(Json value, std::vector<TensorReference>& found) {
  Array parts;
  if (is_reference(value)) {
    found.push_back(reference(value));
    return true;
  }
  if (value.get(parts) == simdjson::SUCCESS) {
    bool all = true;
    for (Json part : parts) all = collect(part, found) && all;
    return all;
  }
  Object object;
  if (value.get(object) != simdjson::SUCCESS) return value.is_null();
  if (text_or(value, "class_name", "") == "__keras_tensor__") {
    Json history;
    if (value["config"]["keras_history"].get(history) != simdjson::SUCCESS) return false;
    return collect(history, found);
  }
  if (value["class_name"].error() == simdjson::SUCCESS) return false;
  bool all = true;
  for (const auto& [key, part] : object) all = collect(part, found) && all;
  return all;
}

bool is_true(Json value) {
  bool yes = false;
  return value.get(yes) == simdjson::SUCCESS && yes;
}

void read_options(Json options, LayerCall& call) {
  for (const auto& [key, value] : Object(options)) {
    if (value.is_null() || (key == "training" && !is_true(value))) continue;
    std::vector<TensorReference> tensors;
    if (value.type() != Kind::BOOL && collect(value, tensors) && !tensors.empty()) {
      call.named.emplace_back(std::string(key), std::move(tensors));
    } else {
      call.options.emplace_back(std::string(key), value);
    }
  }
}

void read_old_call(Json value, LayerCall& call) {
  if (is_reference(value)) {
    call.inputs.push_back(reference(value));
    Json options;
    const bool more = value.at(3).get(options) == simdjson::SUCCESS;
    if (more && options.type() == Kind::OBJECT) read_options(options, call);
    return;
  }
  Array parts;
  if (value.get(parts) != simdjson::SUCCESS) refuse("a call of a layer names no tensor");
  for (Json part : parts) read_old_call(part, call);
}

LayerCall read_call(Json value) {
  LayerCall call;
  Json inputs;
  if (value.type() != Kind::OBJECT) {
    read_old_call(value, call);
    return call;
  }
  call.only_tensors =
      value["args"].get(inputs) == simdjson::SUCCESS && collect(inputs, call.inputs);
  if (value["kwargs"].get(inputs) == simdjson::SUCCESS && inputs.type() == Kind::OBJECT) {
    read_options(inputs, call);
  }
  return call;
}

// How a .keras file names a class: MaxPooling2D is max_pooling2d, PReLU is p_re_lu.
std::string snake_case(const std::string& name) {
  static const std::regex kWord("(.)([A-Z][a-z]+)"), kEdge("([a-z])([A-Z])");
  std::string text = std::regex_replace(name, kWord, "$1_$2");
  text = std::regex_replace(text, kEdge, "$1_$2");
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// The name of the class in Python, with a number from the second of it on. One class has another
// name in Keras' configs.
std::string stored_name(const std::string& class_name, std::map<std::string, int>& seen) {
  const bool other = class_name == "GroupQueryAttention";
  const std::string plain = snake_case(other ? "GroupedQueryAttention" : class_name);
  const int before = seen[plain]++;
  return before == 0 ? plain : fmt::format("{}_{}", plain, before);
}

std::vector<DescribedLayer> read_layers(Json config, bool sequential) {
  Json listed = config;
  if (config.type() == Kind::OBJECT && config["layers"].get(listed) != simdjson::SUCCESS) {
    refuse("the network has no layers");
  }
  Array described;
  if (listed.get(described) != simdjson::SUCCESS) refuse("the network has no layers");
  std::vector<DescribedLayer> layers;
  std::map<std::string, int> seen;
  for (Json one : described) {
    DescribedLayer layer = read_description(one);
    // A Sequential does not count its input among the layers that it stores.
    if (!sequential || !layer.is_input()) {
      layer.stored = stored_name(text_or(one, "class_name", ""), seen);
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}

struct TypeName {
  std::string_view name;
  ElementType type;
};
constexpr std::array<TypeName, 10> kTypes = {{{"float32", ElementType::f32},
                                              {"float64", ElementType::f64},
                                              {"float16", ElementType::f16},
                                              {"bfloat16", ElementType::bf16},
                                              {"int64", ElementType::i64},
                                              {"int32", ElementType::i32},
                                              {"int16", ElementType::i16},
                                              {"int8", ElementType::i8},
                                              {"uint8", ElementType::u8},
                                              {"bool", ElementType::boolean}}};

}  // namespace

bool DescribedLayer::is_network() const {
  return class_name == "Sequential" || class_name == "Functional" || class_name == "Model";
}

DescribedLayer read_description(Json described) {
  DescribedLayer layer;
  const std::string name = text_or(described, "class_name", "");
  if (name.empty()) refuse("a layer has no class_name");
  layer.class_name = full_class(described, name);
  if (described["config"].get(layer.config) != simdjson::SUCCESS) {
    refuse(fmt::format("a layer of class {} has no config", printable(name)));
  }
  const bool plain = layer.config.type() == Kind::OBJECT;
  layer.name = text_or(described, "name", plain ? text_or(layer.config, "name", "") : "");
  Array calls;
  if (described["inbound_nodes"].get(calls) == simdjson::SUCCESS) {
    for (Json call : calls) layer.calls.push_back(read_call(call));
  }
  return layer;
}

std::vector<std::string> stored_cells(const DescribedLayer& layer) {
  std::vector<std::string> names;
  Array cells;
  if (!layer.config.is_object() ||
      layer.config["cell"]["config"]["cells"].get(cells) != simdjson::SUCCESS) {
    return names;
  }
  std::map<std::string, int> seen;
  for (Json one : cells) names.push_back(stored_name(text_or(one, "class_name", ""), seen));
  return names;
}

// An operation of those that make masks, whose class an .h5 file names without its module.
static bool makes_masks(const DescribedLayer& layer) {
  static const std::set<std::string, std::less<>> kNames = {
      "Any",       "BroadcastTo", "Concatenate", "ExpandDims", "LogicalAnd",
      "LogicalOr", "NotEqual",    "OnesLike",    "ZerosLike",  "ConvertToTensor"};
  const bool told = layer.class_name.find(".ops.") != std::string::npos;
  // A layer says whether it is trained.
  const bool is_layer =
      layer.config.is_object() && layer.config["trainable"].error() == simdjson::SUCCESS;
  const std::string name =
      told ? layer.class_name.substr(layer.class_name.rfind('.') + 1) : layer.class_name;
  return kNames.contains(name) && (told || !is_layer);
}

static bool is_mask(std::string_view argument) {
  return argument == "mask" || argument == "query_mask" || argument == "value_mask" ||
         argument == "key_mask";
}

// Keras 3 writes down how masks are made, and gives them to calls. They follow from the layers, and
// are left out here: what makes them, and what takes them. A mask that comes from elsewhere stays.
static void leave_masks_out(DescribedNetwork& network) {
  std::set<std::string> makers, asked;
  for (const DescribedLayer& layer : network.layers) {
    if (makes_masks(layer)) makers.insert(layer.name);
  }
  for (const TensorReference& one : network.outputs) asked.insert(one.layer);
  for (DescribedLayer& layer : network.layers) {
    for (LayerCall& call : layer.calls) {
      std::erase_if(call.named, [&](const auto& one) {
        const auto made = [&](const TensorReference& t) { return makers.contains(t.layer); };
        return is_mask(one.first) && std::ranges::all_of(one.second, made);
      });
      for (const auto& [name, tensors] : call.named) {
        for (const TensorReference& one : tensors) asked.insert(one.layer);
      }
      for (const TensorReference& one : call.inputs) {
        if (!makers.contains(layer.name)) asked.insert(one.layer);
      }
    }
  }
  std::erase_if(network.layers, [&](const DescribedLayer& layer) {
    return makers.contains(layer.name) && !asked.contains(layer.name);
  });
}

// TensorFlow counts the call that a network makes on its own inputs, but does not write it down:
// then the calls of a network are numbered from one on.
static void count_from_first(DescribedNetwork& network) {
  std::map<std::string, std::int64_t> last;
  const auto each = [&](const auto& visit) {
    for (TensorReference& one : network.outputs) visit(one);
    for (DescribedLayer& layer : network.layers) {
      for (LayerCall& call : layer.calls) {
        for (TensorReference& one : call.inputs) visit(one);
        for (auto& [name, tensors] : call.named) {
          for (TensorReference& one : tensors) visit(one);
        }
      }
    }
  };
  each([&](const TensorReference& one) { last[one.layer] = std::max(last[one.layer], one.call); });
  std::map<std::string, std::int64_t> shift;
  for (const DescribedLayer& layer : network.layers) {
    const auto calls = static_cast<std::int64_t>(layer.calls.size());
    if (layer.is_network() && last[layer.name] == calls) shift[layer.name] = 1;
  }
  if (shift.empty()) return;
  each([&](TensorReference& one) {
    if (const auto found = shift.find(one.layer); found != shift.end()) one.call -= found->second;
  });
}

DescribedNetwork describe(const DescribedLayer& network) {
  if (!network.is_network()) {
    refuse(
        fmt::format("{} is no Sequential or functional model: what it computes stands in Python "
                    "code; save it as a functional model",
                    printable(network.class_name)));
  }
  DescribedNetwork result;
  result.name = network.name;
  result.sequential = network.class_name == "Sequential";
  result.layers = read_layers(network.config, result.sequential);
  if (result.sequential) return result;
  Json ends;
  if (network.config["input_layers"].get(ends) != simdjson::SUCCESS ||
      !collect(ends, result.inputs) ||
      network.config["output_layers"].get(ends) != simdjson::SUCCESS ||
      !collect(ends, result.outputs)) {
    refuse("the network does not say what it takes and gives");
  }
  leave_masks_out(result);
  count_from_first(result);
  return result;
}

Precision precision(Json config) {
  Json given;
  if (config["dtype"].get(given) != simdjson::SUCCESS || given.is_null()) return {};
  if (given.type() == Kind::OBJECT && given["config"].get(given) != simdjson::SUCCESS) return {};
  if (given.type() == Kind::OBJECT && given["name"].get(given) != simdjson::SUCCESS) return {};
  std::string_view name;
  if (given.get(name) != simdjson::SUCCESS) return {};
  if (name == "mixed_float16") return {ElementType::f16, ElementType::f32};
  if (name == "mixed_bfloat16") return {ElementType::bf16, ElementType::f32};
  const auto found = std::ranges::find(kTypes, name, &TypeName::name);
  if (found == kTypes.end()) refuse(fmt::format("no type {} is known", in_quotes(name)));
  return {found->type, found->type};
}

}  // namespace assay::keras

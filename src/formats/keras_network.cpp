#include "formats/keras_network.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "formats/failure.h"
#include "formats/keras_config.h"
#include "graph/names.h"
#include "layers/keras/layers.h"
#include "ops/opset.h"

namespace assay::keras {
namespace {

constexpr int kMostNesting = 50;
constexpr std::size_t kMostNodes = 200000;

bool is_float(ElementType type) {
  return type == ElementType::f16 || type == ElementType::bf16 || type == ElementType::f32 ||
         type == ElementType::f64;
}

std::string counted_from(const std::string& name, std::int64_t call) {
  return call == 0 ? name : fmt::format("{}@{}", name, call + 1);
}

std::string with_output(const std::string& name, std::int64_t output) {
  return output == 0 ? name : fmt::format("{}:{}", name, output);
}

// What an InputLayer, or the first layer of a Sequential, says of the shape; the batch first.
std::optional<Dims> declared_shape(Json config, const std::string& name) {
  simdjson::dom::array extents;
  if (config["batch_shape"].get(extents) != simdjson::SUCCESS &&
      config["batch_input_shape"].get(extents) != simdjson::SUCCESS &&
      config["build_input_shape"].get(extents) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  Dims dims;
  for (Json extent : extents) {
    std::int64_t value = -1;
    if (extent.get(value) == simdjson::SUCCESS && value >= 0) {
      dims.emplace_back(value);
    } else {
      dims.push_back(Dim::named(dims.empty() ? "batch" : fmt::format("{}.{}", name, dims.size())));
    }
  }
  return dims;
}

class Layout {
 public:
  explicit Layout(int version) : version_(version) {
    model_.ir_version = 10;
    model_.opsets = {{std::string(kDomain), version}};
  }

  Model run(const DescribedLayer& top, const WeightStore& weights) {
    model_.graph.name = top.name;
    const Names outputs = network(top, weights, "", "", {}, 0);
    for (const std::string& value : outputs) add_output(value);
    return std::move(model_);
  }

 private:
  using Names = std::vector<std::string>;
  using Inputs = std::vector<std::string_view>;
  struct Pending {
    const DescribedLayer* layer;
    std::int64_t call;
    bool done = false;
  };
  // A network being laid out: where its values are named, and where its weights.
  struct Frame {
    const WeightStore& weights;
    std::string values, owner;  // prefixes; those of a second call of a network differ
    int depth;
    std::unordered_map<std::string, std::string> known;  // "dense@2:1" to its name in the model
    std::unordered_map<std::string, std::unique_ptr<WeightStore>> stores = {};
  };

  // The values that the network gives. `inputs` are those that it is called on; none at the top.
  Names network(const DescribedLayer& described, const WeightStore& weights,
                const std::string& values, const std::string& owner, const Names& inputs,
                int depth) {
    if (depth > kMostNesting) throw FormatError("limit", "networks are nested too deep");
    const DescribedNetwork inner = describe(described);
    Frame frame{weights, values, owner, depth, {}};
    if (inner.sequential) return sequence(inner, described, inputs, frame);
    enter(inner, inputs, frame);
    call_all(inner, frame);
    Names outputs;
    for (const TensorReference& one : inner.outputs) outputs.push_back(value(one, frame));
    return outputs;
  }

  Names sequence(const DescribedNetwork& inner, const DescribedLayer& described,
                 const Names& inputs, Frame& frame) {
    Names current = inputs;
    for (const DescribedLayer& layer : inner.layers) {
      if (layer.is_input()) {
        if (current.empty()) current = {add_input(layer.name, layer.config)};
        continue;
      }
      if (current.empty()) {
        const bool own =
            declared_shape(layer.config, "").has_value() || !described.config.is_object();
        current = {add_input(layer.name + "_input", own ? layer.config : described.config)};
      }
      current = call(layer, 0, current, {}, frame);
    }
    if (current.empty()) throw FormatError("unreadable", "the network has no layers");
    return current;
  }

  void enter(const DescribedNetwork& inner, const Names& inputs, Frame& frame) {
    for (std::size_t i = 0; i < inner.inputs.size(); ++i) {
      const std::string& name = inner.inputs[i].layer;
      const auto layer = std::ranges::find(inner.layers, name, &DescribedLayer::name);
      if (layer == inner.layers.end()) {
        throw FormatError("unreadable", fmt::format("no layer is its input {}", in_quotes(name)));
      }
      if (frame.depth == 0) {
        frame.known[name] = add_input(name, layer->config);
      } else if (i < inputs.size()) {
        frame.known[name] = inputs[i];
      }
    }
  }

  // Calls are made in the order of the layers, as soon as all that they take is there.
  void call_all(const DescribedNetwork& inner, Frame& frame) {
    std::vector<Pending> calls;
    std::unordered_map<std::string, std::vector<std::size_t>> waiting;
    for (const DescribedLayer& layer : inner.layers) {
      for (std::size_t k = 0; !layer.is_input() && k < layer.calls.size(); ++k) {
        calls.push_back({&layer, static_cast<std::int64_t>(k)});
      }
    }
    for (std::size_t i = 0; i < calls.size(); ++i) {
      std::vector<std::size_t> ready = {i};
      while (!ready.empty()) {
        Pending& one = calls[ready.back()];
        const std::size_t index = ready.back();
        ready.pop_back();
        if (one.done) continue;
        if (const auto missing = first_missing(one, frame)) {
          waiting[*missing].push_back(index);
          continue;
        }
        make(one, frame);
        const std::string made = counted_from(one.layer->name, one.call);
        ready = std::move(waiting[made]);
        std::ranges::reverse(ready);
      }
    }
    for (Pending& one : calls) {
      if (!one.done) make(one, frame);
    }
  }

  static const LayerCall& call_of(const Pending& one) {
    return one.layer->calls[static_cast<std::size_t>(one.call)];
  }

  std::optional<std::string> first_missing(const Pending& one, const Frame& frame) const {
    std::optional<std::string> missing;
    const auto look = [&](const std::vector<TensorReference>& tensors) {
      for (const TensorReference& tensor : tensors) {
        const std::string made = counted_from(tensor.layer, tensor.call);
        if (!missing && !frame.known.contains(made)) missing = made;
      }
    };
    look(call_of(one).inputs);
    for (const auto& [name, tensors] : call_of(one).named) look(tensors);
    return missing;
  }

  void make(Pending& one, Frame& frame) {
    one.done = true;
    if (!call_of(one).only_tensors) {
      throw FormatError("invalid",
                        fmt::format("layer {} ({}) is called on something that is no "
                                    "tensor of the network",
                                    in_quotes(one.layer->name), printable(one.layer->class_name)));
    }
    Names inputs;
    for (const TensorReference& tensor : call_of(one).inputs)
      inputs.push_back(value(tensor, frame));
    const Names outputs = call(*one.layer, one.call, inputs, call_of(one), frame);
    const std::string made = counted_from(one.layer->name, one.call);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      frame.known[with_output(made, static_cast<std::int64_t>(i))] = outputs[i];
    }
  }

  // A tensor that nobody makes keeps the name by which it is asked for.
  static std::string value(const TensorReference& tensor, const Frame& frame) {
    const std::string key = with_output(counted_from(tensor.layer, tensor.call), tensor.output);
    const auto found = frame.known.find(key);
    return found == frame.known.end() ? frame.values + key : found->second;
  }

  Names call(const DescribedLayer& layer, std::int64_t index, Names inputs, const LayerCall& how,
             Frame& frame) {
    const std::string name = frame.values + counted_from(layer.name, index);
    if (layer.is_network()) {
      auto& store = frame.stores[layer.name];
      if (!store) store = frame.weights.inside(layer);
      return network(layer, *store, name + "/", frame.owner + layer.name + "/", inputs,
                     frame.depth + 1);
    }
    if (model_.graph.nodes.size() >= kMostNodes) {
      throw FormatError("limit", "the network has more than 200,000 layers");
    }
    Node node = read_layer(layer.class_name, frame.owner + layer.name, layer.config);
    add_named_inputs(how, frame, node, inputs);
    const Precision types = precision(layer.config);
    node.inputs = cast_inputs(node, std::move(inputs), name, types);
    give_weights(layer, types, frame, node);
    node.name = name;
    node.outputs = {name};
    for (std::size_t i = 1; i < outputs_of(node); ++i) {
      node.outputs.push_back(with_output(name, static_cast<std::int64_t>(i)));
    }
    for (const std::string& output : node.outputs) types_[output] = types.computed;
    model_.graph.nodes.push_back(node);
    return node.outputs;
  }

  // Tensors that a call names go to the input of that name, states behind the others. Another one
  // is an argument that the layer does not have.
  void add_named_inputs(const LayerCall& how, const Frame& frame, Node& node, Names& inputs) {
    const Layer* layer = find_layer(node.op);
    for (const auto& [name, tensors] : how.named) {
      const auto own = layer ? std::ranges::find(layer->inputs, name) : Inputs::const_iterator();
      const bool named = layer && own != layer->inputs.end();
      if (layer && !named && name != "initial_state") {
        node.attributes.push_back(attribute(name, "a tensor"));
        continue;
      }
      for (const TensorReference& tensor : tensors) {
        const std::size_t place =
            named ? static_cast<std::size_t>(own - layer->inputs.begin()) : inputs.size();
        inputs.resize(std::max(inputs.size(), place + 1));
        inputs[place] = value(tensor, frame);
      }
    }
    for (const auto& [name, option] : how.options) read_option(name, option, node);
  }

  // Layers compute in their own precision, whatever they are given.
  Names cast_inputs(const Node& node, Names inputs, const std::string& name,
                    const Precision& types) {
    const Layer* layer = find_layer(node.op);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto given = types_.find(inputs[i]);
      if (given == types_.end() || given->second == types.computed || (layer && layer->indices)) {
        continue;
      }
      if (is_float(given->second) && is_float(types.computed)) {
        inputs[i] = cast(inputs[i], fmt::format("{}/input{}", name, i), types.computed);
      }
    }
    return inputs;
  }

  std::string cast(const std::string& value, std::string name, ElementType type) {
    Node node;
    node.op = "Cast";
    node.name = name;
    node.inputs = {value};
    node.outputs = {name};
    node.attributes = {attribute("to", static_cast<std::int64_t>(type))};
    model_.opsets.try_emplace("", newest_opset());
    model_.graph.nodes.push_back(std::move(node));
    return name;
  }

  // A layer that is called twice, or is in a network that is, has its weights once.
  void give_weights(const DescribedLayer& layer, const Precision& types, const Frame& frame,
                    Node& node) {
    const auto [place, fresh] = weights_.try_emplace(node.name);
    if (fresh) {
      std::vector<Tensor> tensors = frame.weights.weights(layer);
      count_in_reals(node, types.kept, tensors);
      place->second = weight_names(node, version_, tensors.size());
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        const ElementType type = tensors[i].type();
        std::string& name = place->second[i];
        model_.graph.initializers.push_back({name, std::move(tensors[i]), {}, {}});
        if (types.kept != types.computed && type == types.kept) {
          name = cast(name, fmt::format("{}/cast", name), types.computed);
        }
      }
    }
    attach_weights(place->second, version_, node);
  }

  // What a layer counts in training is a whole number, unlike its other weights.
  void count_in_reals(const Node& node, ElementType type, std::vector<Tensor>& tensors) const {
    const Weights known = expected_weights(node, version_);
    for (std::size_t i = 0; i < std::min(known.size(), tensors.size()); ++i) {
      const bool counter = !known[i].trained && tensors[i].rank() == 0;
      if (counter) tensors[i] = make_scalar(type, tensors[i].real(0));
    }
  }

  std::string add_input(const std::string& name, Json config) {
    const ElementType type = precision(config).kept;
    types_[name] = type;
    const std::optional<Dims> dims = declared_shape(config, name);
    model_.graph.inputs.push_back(
        {name, dims ? ValueType::tensor(type, *dims) : ValueType::tensor(type), {}, {}});
    return name;
  }

  // An input that is given back, or a value given twice, needs a node that makes it.
  void add_output(std::string value) {
    const auto same = [&](const NamedType& one) { return one.name == value; };
    const auto type = types_.find(value);
    const ValueType known = type == types_.end() ? ValueType() : ValueType::tensor(type->second);
    if (std::ranges::any_of(model_.graph.inputs, same) ||
        std::ranges::any_of(model_.graph.outputs, same)) {
      Node copy;
      copy.op = "Identity";
      copy.inputs = {value};
      value = fmt::format("{}/output{}", value, model_.graph.outputs.size());
      copy.name = value;
      copy.outputs = {value};
      model_.opsets.try_emplace("", newest_opset());
      model_.graph.nodes.push_back(std::move(copy));
    }
    model_.graph.outputs.push_back({value, known, {}, {}});
  }

  int version_;
  Model model_;
  std::unordered_map<std::string, ElementType> types_;
  std::unordered_map<std::string, Names> weights_;  // by the layer's path
};

}  // namespace

Model to_model(const DescribedLayer& network, const WeightStore& weights, int version) {
  return Layout(version).run(network, weights);
}

}  // namespace assay::keras

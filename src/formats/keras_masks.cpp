#include "formats/keras_masks.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "layers/keras/layers.h"
#include "layers/splice.h"
#include "ops/opset.h"

namespace assay::keras {
namespace {

class MaskSpreader {
 public:
  explicit MaskSpreader(Model& model) : model_(model) {}

  void run() {
    std::vector<Node> before = std::move(model_.graph.nodes);
    model_.graph.nodes.clear();
    for (Node& node : before) {
      const Layer* layer = node.domain == kDomain ? find_layer(node.op) : nullptr;
      if (layer) meet(*layer, node);
      model_.graph.nodes.push_back(std::move(node));
      if (layer && layer->masks == Masks::make) make(Node(model_.graph.nodes.back()));
    }
    if (used_) model_.opsets.try_emplace("", newest_opset());
  }

 private:
  std::string add(std::string op, std::string name, std::vector<std::string> inputs,
                  std::vector<Attribute> attributes = {}) {
    Node node;
    node.op = std::move(op);
    node.name = name;
    node.inputs = std::move(inputs);
    node.outputs = {name};
    node.attributes = std::move(attributes);
    model_.graph.nodes.push_back(std::move(node));
    used_ = true;
    return name;
  }

  std::string constant(const std::string& name, Tensor tensor) {
    model_.graph.nodes.push_back(constant_node(name, std::move(tensor)));
    return name;
  }

  // Elements of an Embedding that are not zero; steps of a Masking that are not all mask_value.
  void make(const Node& node) {
    const bool table = node.op != "Masking";
    if (table && (!asks_for(node, "mask_zero") || asks_for(node, "reverse"))) return;
    const AttributeValue* given = node.find("mask_value");
    const auto* real = given ? std::get_if<double>(given) : nullptr;
    const std::string base = node.outputs.front() + "/mask";
    const std::string number =
        constant(base + "_value", make_scalar(ElementType::f32, real ? *real : 0));
    const std::string& x = node.inputs.front();
    const std::string same =
        add("Equal", base + "_same", {x, add("CastLike", base + "_like", {number, x})});
    std::string mask = add("Not", table ? base : base + "_other", {same});
    if (!table) {
      mask = to(mask, base + "_count", ElementType::i32);
      const std::int64_t last = -1;
      const std::string axis = constant(base + "_axis", make_vector(std::span(&last, 1)));
      mask = add("ReduceMax", base + "_any", {mask, axis}, {attribute("keepdims", 0)});
      mask = to(mask, base, ElementType::boolean);
    }
    masks_[node.outputs.front()] = mask;
  }

  // Of each input of the layer its mask, "" where it has none.
  std::vector<std::string> masks_of(const Layer& layer, const Node& node) const {
    const bool variadic = layer.inputs.front() == "inputs";
    const std::size_t own = variadic ? node.inputs.size() : layer.inputs.size();
    std::vector<std::string> masks;
    for (std::size_t i = 0; i < std::min(own, node.inputs.size()); ++i) {
      const auto mask = masks_.find(node.inputs[i]);
      masks.push_back(mask == masks_.end() ? "" : mask->second);
    }
    return masks;
  }

  void meet(const Layer& layer, Node& node) {
    std::vector<std::string> masks = masks_of(layer, node);
    const auto given = [](const std::string& mask) { return !mask.empty(); };
    if (std::ranges::none_of(masks, given)) return;
    if (layer.masks == Masks::merge) {
      merge(layer, node, masks);
      return;
    }
    // Of an attention those of query, value and key.
    masks.resize(layer.inputs.front() == "query" ? std::min<std::size_t>(masks.size(), 3) : 1);
    if (layer.masks == Masks::use || layer.masks == Masks::keep) use(layer, node, masks);
    // Keras gives each step of the mask to a layer that would use it.
    const bool inside =
        layer.masks == Masks::pass && inner_layer(node) && inner_layer(node)->masks >= Masks::use;
    if (inside) node.set("mask", std::string("for the layer inside"));
    if (given(masks.front()) && passes(layer, node)) masks_[node.outputs.front()] = masks.front();
  }

  static const Layer* inner_layer(const Node& node) {
    const Graph* inside = layers_inside(node, "layer");
    return inside ? find_layer(inside->nodes.front().op) : nullptr;
  }

  // A recurrence gives the steps back, or only what is there after the last one.
  static bool passes(const Layer& layer, const Node& node) {
    if (layer.masks != Masks::use) return layer.masks == Masks::pass || layer.masks == Masks::keep;
    const Graph* inside = layers_inside(node, "layer");
    return asks_for(inside ? inside->nodes.front() : node, "return_sequences");
  }

  // Behind the weights of the node; argument masked has a bit for each input whose mask it is.
  void use(const Layer& layer, Node& node, const std::vector<std::string>& masks) {
    std::uint64_t bits = 0;
    const bool variadic = layer.inputs.front() == "inputs";
    if (!variadic) node.inputs.resize(std::max(node.inputs.size(), layer.inputs.size()));
    const std::string like = node.inputs.front();
    for (std::size_t i = 0; i < masks.size(); ++i) {
      if (masks[i].empty()) continue;
      bits |= std::uint64_t{1} << i;
      const std::string name =
          node.outputs.front() + (i == 0 ? "/mask" : fmt::format("/mask{}", i));
      node.inputs.push_back(add("CastLike", name, {masks[i], like}));
    }
    if (bits != 0) node.set("masked", static_cast<std::int64_t>(bits));
  }

  // Keras 3: a step counts if it does in any input, and all must have a mask. Keras 2: if it does
  // in all that have one.
  void merge(const Layer& layer, Node& node, const std::vector<std::string>& masks) {
    const bool old = model_.opsets.at(std::string(kDomain)) < 3;
    const std::string base = node.outputs.front() + "/merged_mask";
    const auto has = [&](std::string_view name) {
      return std::ranges::find(layer.arguments, name, &Argument::name) != layer.arguments.end();
    };
    const std::vector<std::string> inputs = node.inputs;
    if (has("masked") && !old && masks.size() < kMostMasked) use(layer, node, masks);
    if (has("axis")) {
      masks_[node.outputs.front()] = joined(node, inputs, masks, base, old);
      return;
    }
    if (!old && std::ranges::find(masks, "") != masks.end()) return;
    std::string all;
    for (std::size_t i = 0; i < masks.size(); ++i) {
      if (masks[i].empty()) continue;
      all = all.empty() ? masks[i]
                        : add(old ? "And" : "Or", fmt::format("{}{}", base, i), {all, masks[i]});
    }
    masks_[node.outputs.front()] = all;
  }

  // Each mask in the shape of its input, one behind the other along the axis; a step counts if any
  // of its elements does, or in Keras 2 all. An input without a mask counts.
  std::string joined(const Node& node, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& masks, const std::string& base, bool old) {
    const std::int64_t last = -1, one = 1;
    const std::string axis = constant(base + "_axis", make_vector(std::span(&last, 1)));
    const std::string ones = constant(base + "_ones", make_vector(std::span(&one, 1)));
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < masks.size(); ++i) {
      const std::string name = fmt::format("{}{}", base, i);
      const std::string shape = add("Shape", name + "_shape", {inputs[i]});
      std::string wide = ones;
      if (!masks[i].empty()) {
        const std::string whole = to(masks[i], name + "_number", ElementType::i64);
        wide = add("Unsqueeze", name + "_wide", {whole, axis});
      }
      parts.push_back(add("Expand", name, {wide, shape}));
    }
    const AttributeValue* along = node.find("axis");
    const auto* place = along ? std::get_if<std::int64_t>(along) : nullptr;
    const std::string all =
        add("Concat", base + "_all", parts, {attribute("axis", place ? *place : -1)});
    const std::string found = add(old ? "ReduceMin" : "ReduceMax", base + "_found", {all, axis},
                                  {attribute("keepdims", 0)});
    return to(found, base, ElementType::boolean);
  }

  std::string to(const std::string& value, std::string name, ElementType type) {
    return add("Cast", std::move(name), {value},
               {attribute("to", static_cast<std::int64_t>(type))});
  }

  static constexpr std::size_t kMostMasked = 63;  // bits of an argument
  Model& model_;
  std::unordered_map<std::string, std::string> masks_;  // by the value that has it
  bool used_ = false;
};

bool makes_mask(const Node& node) {
  return node.domain == kDomain && (node.op == "Masking" || asks_for(node, "mask_zero"));
}

}  // namespace

void spread_masks(Model& model) {
  if (std::ranges::any_of(model.graph.nodes, makes_mask)) MaskSpreader(model).run();
}

}  // namespace assay::keras

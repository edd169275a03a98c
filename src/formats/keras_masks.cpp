#include "formats/keras_masks.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "layers/keras/layers.h"
#include "layers/splice.h"
#include "ops/opset.h"

namespace assay::keras {
namespace {

bool is_set(const Node& node, std::string_view argument) {
  const AttributeValue* value = node.find(argument);
  const auto* flag = value ? std::get_if<std::int64_t>(value) : nullptr;
  return flag && *flag != 0;
}

class MaskSpreader {
 public:
  explicit MaskSpreader(Model& model) : model_(model) {}

  void run() {
    std::vector<Node> before = std::move(model_.graph.nodes);
    model_.graph.nodes.clear();
    for (Node& node : before) {
      const Layer* layer = node.domain == kDomain ? find_layer(node.op) : nullptr;
      if (layer) meet(*layer, node);
      Node copy = node;
      model_.graph.nodes.push_back(std::move(node));
      if (layer && layer->masks == Masks::make) make(copy);
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
    const bool table = node.op == "Embedding";
    if (table && !is_set(node, "mask_zero")) return;
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
      const auto whole = static_cast<std::int64_t>(ElementType::i32);
      const auto truth = static_cast<std::int64_t>(ElementType::boolean);
      mask = add("Cast", base + "_count", {mask}, {attribute("to", whole)});
      const std::int64_t last = -1;
      const std::string axis = constant(base + "_axis", make_vector(std::span(&last, 1)));
      mask = add("ReduceMax", base + "_any", {mask, axis}, {attribute("keepdims", 0)});
      mask = add("Cast", base, {mask}, {attribute("to", truth)});
    }
    masks_[node.outputs.front()] = mask;
  }

  void meet(const Layer& layer, Node& node) {
    const bool variadic = layer.inputs.front() == "inputs";
    const std::size_t own = variadic ? node.inputs.size() : layer.inputs.size();
    std::vector<std::string> found;
    std::size_t given = 0;
    for (std::size_t i = 0; i < std::min(own, node.inputs.size()); ++i) {
      given += node.inputs[i].empty() ? 0 : 1;
      const auto mask = masks_.find(node.inputs[i]);
      if (mask != masks_.end()) found.push_back(mask->second);
    }
    if (found.empty()) return;
    switch (layer.masks) {
      case Masks::pass:
        masks_[node.outputs.front()] = found.front();
        break;
      case Masks::use:
        use(layer, node, found.front());
        break;
      case Masks::refuse:
        // A merge of inputs of which one has no mask has none.
        if (!variadic || found.size() == given) node.set("mask", std::string("of an input"));
        break;
      default:
        break;
    }
  }

  void use(const Layer& layer, Node& node, const std::string& mask) {
    node.set("masked", std::int64_t{1});
    node.inputs.resize(std::max(node.inputs.size(), layer.inputs.size()));
    node.inputs.push_back(
        add("CastLike", node.outputs.front() + "/mask", {mask, node.inputs.front()}));
    const bool goes_on = is_set(node, "return_sequences") || layer.name == "Softmax";
    if (goes_on) masks_[node.outputs.front()] = mask;
  }

  Model& model_;
  std::unordered_map<std::string, std::string> masks_;  // by the value that has it
  bool used_ = false;
};

bool makes_mask(const Node& node) {
  return node.domain == kDomain &&
         (node.op == "Masking" || (node.op == "Embedding" && is_set(node, "mask_zero")));
}

}  // namespace

void spread_masks(Model& model) {
  if (std::ranges::any_of(model.graph.nodes, makes_mask)) MaskSpreader(model).run();
}

}  // namespace assay::keras

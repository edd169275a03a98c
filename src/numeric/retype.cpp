#include "numeric/retype.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "graph/names.h"
#include "numeric/shown_name.h"
#include "ops/catalogue.h"
#include "semantics/infer_types.h"
#include "semantics/plan.h"
#include "tensor/convert.h"

namespace assay {
namespace {

using GraphPointer = std::shared_ptr<const Graph>;

const FormalParameter* formal_at(std::span<const FormalParameter> formals, std::size_t i) {
  if (i < formals.size()) return &formals[i];
  return !formals.empty() && formals.back().arity == Arity::variadic ? &formals.back() : nullptr;
}

bool allows(const Schema& schema, const FormalParameter* formal, ElementType type) {
  if (!formal) return false;
  const std::string spelled = fmt::format("tensor({})", standard_name(type));
  if (const TypeConstraint* constraint = schema.find_constraint(formal->type))
    return std::find(constraint->allowed.begin(), constraint->allowed.end(), spelled) !=
           constraint->allowed.end();
  return formal->type == spelled;
}

bool has_graphs(const Node& node) {
  return std::any_of(node.attributes.begin(), node.attributes.end(), [](const Attribute& one) {
    return std::holds_alternative<GraphPointer>(one.value) ||
           std::holds_alternative<std::vector<GraphPointer>>(one.value);
  });
}

// A graph while it is written anew, and the graphs around it.
struct Place {
  Graph* graph;
  std::string path;  // "loop/body/"
  Place* outer = nullptr;
  std::set<std::string> own{};
};

class Retyper {
 public:
  Retyper(const Model& model, ElementType to, const std::set<std::string>& keep)
      : from_(&model), to_(to), keep_(&keep) {
    for (const NamedValueType& value : infer_types(model).values)
      if (value.known->type.is_tensor() && value.known->type.element == ElementType::f32)
        native_[value.name] = ElementType::f32;
    result_.model = model;
  }

  Retyped run() {
    Graph& graph = result_.model.graph;
    Place place{&graph, ""};
    add_all(place);
    for (NamedType& output : graph.outputs) {
      const ElementType* native = native_of(output.name, place);
      if (native && output.type.is_tensor()) output.type.element = *native;
    }
    return std::move(result_);
  }

 private:
  void add_all(Place& place) {
    Graph& graph = *place.graph;
    for (const NamedType& input : graph.inputs) place.own.insert(input.name);
    for (const NamedTensor& one : graph.initializers) place.own.insert(one.name);
    graph.value_info.clear();
    const std::vector<Node> nodes = std::exchange(graph.nodes, {});
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::string name = shown_name(nodes[i], place.path + operation_name(nodes[i], i));
      add(nodes[i], name, i, place);
    }
  }

  void add(Node node, const std::string& name, std::size_t position, Place& place) {
    for (const std::string& input : node.inputs)
      if (const auto maker = made_by_.find(input); maker != made_by_.end())
        result_.makers[name].insert(maker->second);
    const Lookup found = lookup(node);
    const bool turns = found.entry && !node.inputs.empty() && !keep_->contains(name) &&
                       !has_graphs(node) && turn(node, found, name, place);
    if (!turns) stay(node, name, position, place);
    for (const std::string& output : node.outputs) {
      made_by_[output] = name;
      place.own.insert(output);
    }
    place.graph->nodes.push_back(std::move(node));
  }

  // The format of a value that was float32, as seen from a graph; nullptr for all others.
  ElementType* native_of(const std::string& value, const Place& place) {
    for (const Place* p = &place; p; p = p->outer) {
      if (!p->own.contains(value)) continue;
      const auto found = native_.find(p->path + value);
      return found == native_.end() ? nullptr : &found->second;
    }
    return nullptr;
  }

  Lookup lookup(const Node& node) const {
    const auto opset = from_->opsets.find(node.domain);
    if (from_->find_function(node.domain, node.op, node.overload)) return {};
    const std::int64_t version = node.version != 0              ? node.version
                                 : opset == from_->opsets.end() ? 0
                                                                : opset->second;
    return find_operator(node.domain, node.op, version);
  }

  bool turn(Node& node, const Lookup& found, const std::string& name, Place& place) {
    const Schema& schema = *found.schema;
    std::set<std::string_view> turned;  // constraints that now mean the shorter format
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const FormalParameter* formal = formal_at(schema.inputs, i);
      if (native_of(node.inputs[i], place) && allows(schema, formal, to_))
        turned.insert(formal->type);
    }
    Node changed = node;
    const bool by_attribute = turn_attributes(changed, found);
    std::vector<bool> outputs;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const FormalParameter* formal = formal_at(schema.outputs, i);
      const bool follows = formal && (turned.contains(formal->type) || by_attribute);
      if (native_.contains(place.path + node.outputs[i]) && follows && !allows(schema, formal, to_))
        return false;
      outputs.push_back(follows);
    }
    if (turned.empty() && !by_attribute) return false;
    node = std::move(changed);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const FormalParameter* formal = formal_at(schema.inputs, i);
      const bool shorter = formal && turned.contains(formal->type);
      node.inputs[i] = as(node.inputs[i], shorter ? to_ : ElementType::f32, name, place);
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const auto native = native_.find(place.path + node.outputs[i]);
      if (native != native_.end() && outputs[i]) native->second = to_;
    }
    return true;
  }

  // An element type that the node is told, and a tensor that it gives.
  bool turn_attributes(Node& node, const Lookup& found) const {
    bool turned = false;
    for (const AttributeRole& role : found.entry->attributes) {
      const AttributeValue* value = node.find(role.name);
      if (!value) continue;
      if (const auto* number = std::get_if<std::int64_t>(value);
          role.role == Role::type && number &&
          *number == static_cast<std::int64_t>(ElementType::f32)) {
        node.set(std::string(role.name), static_cast<std::int64_t>(to_));
        turned = true;
      } else if (const auto* tensor = std::get_if<Tensor>(value);
                 role.role == Role::value && tensor && tensor->type() == ElementType::f32) {
        node.set(std::string(role.name), make_tensor(to_, tensor->shape(), tensor->reals()));
        turned = true;
      }
    }
    return turned;
  }

  void stay(Node& node, const std::string& name, std::size_t position, Place& place) {
    for (std::string& input : node.inputs) input = as(input, ElementType::f32, name, place);
    for (Attribute& attribute : node.attributes) {
      auto* inner = std::get_if<GraphPointer>(&attribute.value);
      if (!inner) continue;
      const std::string label = printable(display_name(node, position));
      auto graph = std::make_shared<Graph>(**inner);
      Place inside{graph.get(), fmt::format("{}{}/{}/", place.path, label, attribute.name), &place};
      turn_graph(inside, name);
      *inner = std::move(graph);
    }
  }

  // What goes into a graph inside of a node, and what comes out of it, is float32 as before.
  void turn_graph(Place& place, const std::string& node) {
    add_all(place);
    for (NamedType& output : place.graph->outputs)
      output.name = as(output.name, ElementType::f32, node, place);
  }

  // The value in a format, converted where it is in the other one.
  std::string as(const std::string& value, ElementType type, const std::string& reader,
                 Place& place) {
    const ElementType* native = native_of(value, place);
    if (!native || *native == type) return value;
    const std::string label = fmt::format("{}::{}", value, short_name(type));
    for (const Place* p = &place; p; p = p->outer) {
      if (!p->own.contains(p->path + label)) continue;
      result_.casts[p->path + label].push_back(reader);
      return p->path + label;
    }
    std::string alias = place.path + label;
    Node cast;
    cast.op = "Cast";
    cast.version = find_operator("", "Cast", newest_opsets().at("")).schema->since_version;
    cast.name = label;
    cast.inputs = {value};
    cast.outputs = {alias};
    cast.attributes = {attribute("to", static_cast<std::int64_t>(type))};
    place.graph->nodes.push_back(std::move(cast));
    place.own.insert(alias);
    result_.casts[alias].push_back(reader);
    return alias;
  }

  const Model* from_;
  ElementType to_;
  const std::set<std::string>* keep_;
  Retyped result_;
  std::unordered_map<std::string, ElementType> native_;  // of values that were float32
  std::unordered_map<std::string, std::string> made_by_;
};

}  // namespace

std::string operation_name(const Node& node, std::size_t position) {
  return shown_name(node, printable(display_name(node, position)));
}

Retyped retyped(const Model& model, ElementType to, const std::set<std::string>& keep) {
  return Retyper(model, to, keep).run();
}

}  // namespace assay

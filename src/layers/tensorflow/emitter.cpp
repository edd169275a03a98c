#include "layers/tensorflow/emitter.h"

#include <unordered_set>

#include <fmt/format.h>

#include "graph/origin.h"

namespace assay::tensorflow {
namespace {

constexpr const char* kDomain = "tensorflow";

// What a file of the standard can hold of a node that nobody knows.
bool can_be_kept(const AttributeValue& value) {
  if (const auto* tensor = std::get_if<Tensor>(&value)) return tensor->defined();
  return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value) ||
         std::holds_alternative<std::string>(value) ||
         std::holds_alternative<std::vector<std::int64_t>>(value) ||
         std::holds_alternative<std::vector<double>>(value) ||
         std::holds_alternative<std::vector<std::string>>(value);
}

}  // namespace

const AttributeValue* find_attribute(const NodeDef& def, std::string_view name) {
  for (const Attribute& attribute : def.attributes) {
    if (attribute.name == name) return &attribute.value;
  }
  return nullptr;
}

ElementType type_attribute(const NodeDef& def, std::string_view name) {
  const AttributeValue* value = find_attribute(def, name);
  const auto* number = value ? std::get_if<std::int64_t>(value) : nullptr;
  const bool is_type = number && *number > 0 && *number < kElementTypeCount;
  return is_type ? static_cast<ElementType>(*number) : ElementType::undefined;
}

std::string Emitter::value(const Edge& edge, const Scope& scope) const {
  std::string name = wiring_.value_name(edge);
  if (scope.names.empty()) return name;
  const auto other = scope.names.find(name);
  return other == scope.names.end() ? name : other->second;
}

std::string Emitter::input(std::size_t node, std::size_t i, const Scope& scope) const {
  const Edge& edge = wiring_[node].inputs[i];
  return edge.node == kNowhere ? wiring_.input_name(node, i) : value(edge, scope);
}

std::vector<std::string> Emitter::inputs(std::size_t node, const Scope& scope) const {
  std::vector<std::string> names;
  names.reserve(wiring_[node].inputs.size());
  for (std::size_t i = 0; i < wiring_[node].inputs.size(); ++i) {
    names.push_back(input(node, i, scope));
  }
  return names;
}

// The name that a value gets here; where the node stands a second time, others have to learn it.
std::string Emitter::own_value(std::size_t node, std::size_t output, Scope& scope) {
  std::string name = wiring_.value_name({node, output});
  if (scope.suffix.empty()) return name;
  return scope.names[name] = name + scope.suffix;
}

std::vector<std::string> Emitter::outputs(std::size_t node, Scope& scope) {
  std::vector<std::string> names;
  names.reserve(wiring_[node].outputs);
  for (std::size_t i = 0; i < wiring_[node].outputs; ++i)
    names.push_back(own_value(node, i, scope));
  return names;
}

Known Emitter::known_of(std::size_t node, std::size_t i, const std::string& name,
                        const Scope& scope) const {
  const Known* found = scope.path.empty() ? nullptr : known_.find(model_.graph, scope.path + name);
  if (!found) found = known_.find(model_.graph, name);
  if (found) {
    Known known = *found;
    known.present = true;
    return known;
  }
  Known known{true, {}, {}, {}};
  const Edge& edge = wiring_[node].inputs[i];
  if (edge.node == kNowhere || wiring_[edge.node].part() != Part::constant) return known;
  const AttributeValue* constant = find_attribute(*wiring_[edge.node].def, "value");
  const auto* tensor = constant ? std::get_if<Tensor>(constant) : nullptr;
  if (!tensor || !tensor->defined()) return known;
  known.type = ValueType::tensor(tensor->type(), to_dims(tensor->shape()));
  known.constant = *tensor;
  return known;
}

void Emitter::emit_all() {
  Scope scope{&model_.graph, "", "", {}, {}};
  for (const std::size_t node : frames_[Frames::kOutermost].nodes) emit(node, scope);
}

void Emitter::emit(std::size_t node, Scope& scope) {
  const WiredNode& wired = wiring_[node];
  if (wired.silent) return;
  const std::size_t first = scope.graph->nodes.size();
  find_sides(node);
  emit_part(node, scope);
  note_sides(node, scope, first);
}

void Emitter::emit_part(std::size_t node, Scope& scope) {
  const WiredNode& wired = wiring_[node];
  switch (wired.part()) {
    case Part::constant:
      return wired.used ? emit_constant(node, scope) : void();
    case Part::input:
      return emit_input(node, "input");
    case Part::parameter:
      return emit_input(node, "parameter");
    case Part::defaulted:
      return emit_default(node, scope);
    case Part::source:
      return emit_source(node);
    case Part::control:
      return emit_control(node, scope);
    case Part::handle:
    case Part::silent:
      return emit_unknown(node, scope, "it has no value that a model could hold");
    case Part::value:
      return emit_value(node, scope);
  }
}

void Emitter::emit_constant(std::size_t node, Scope& scope) {
  const NodeDef& def = *wiring_[node].def;
  const AttributeValue* value = find_attribute(def, "value");
  const auto* tensor = value ? std::get_if<Tensor>(value) : nullptr;
  if (!tensor || !tensor->defined()) return emit_unknown(node, scope, "it has no value");
  Node constant = constant_node(own_value(node, 0, scope), *tensor);
  constant.metadata = origin_of(def.name, def.op);
  scope.graph->nodes.push_back(std::move(constant));
}

void Emitter::emit_value(std::size_t node, Scope& scope) {
  const WiredNode& wired = wiring_[node];
  if (!wired.definition) return emit_unknown(node, scope, "the operation is not defined");
  Node shown;
  shown.op = wired.def->op;
  shown.domain = kDomain;
  shown.name = wired.def->name;
  shown.attributes = wired.def->attributes.list();
  shown.inputs = inputs(node, scope);
  shown.outputs = outputs(node, scope);
  Site site(shown, 1);
  site.inputs.reserve(wired.inputs.size());
  for (std::size_t i = 0; i < wired.inputs.size(); ++i) {
    site.inputs.push_back(known_of(node, i, shown.inputs[i], scope));
  }
  try {
    Graph body = compose(wired.definition->body, site);
    for (std::size_t i = 0; i < body.outputs.size(); ++i) {
      if (body.outputs[i].name.empty()) throw NotDefined(fmt::format("it has no output {}", i));
    }
    splice({wired.def->name, wired.def->op, std::move(shown.name) + scope.suffix,
            std::move(shown.inputs), std::move(shown.outputs)},
           std::move(body), *scope.graph, scope.graph == &model_.graph ? &constants_ : nullptr);
    note_slots(wired);
  } catch (const NotDefined& reason) {
    ++unresolved_;
    emit_unknown(node, scope, reason.what());
  }
}

void Emitter::emit_unknown(std::size_t node, Scope& scope, const std::string& reason) {
  const NodeDef& def = *wiring_[node].def;
  Node unknown;
  unknown.op = def.op;
  unknown.domain = kDomain;
  unknown.name = def.name + scope.suffix;
  unknown.inputs = inputs(node, scope);
  unknown.outputs = outputs(node, scope);
  std::unordered_set<std::string_view> seen;
  for (const Attribute& attribute : def.attributes) {
    if (can_be_kept(attribute.value) && seen.insert(attribute.name).second) {
      unknown.attributes.push_back(attribute);
    }
  }
  unknown.metadata = origin_of(def.name, def.op);
  unknown.metadata.add(std::string(kOriginUnknown), reason);
  scope.graph->nodes.push_back(std::move(unknown));
}

}  // namespace assay::tensorflow

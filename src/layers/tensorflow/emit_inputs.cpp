// Inputs of the model: what is fed, what is trained, what comes out of queues and files.
#include <algorithm>

#include <fmt/format.h>

#include "graph/origin.h"
#include "layers/tensorflow/emitter.h"

namespace assay::tensorflow {
namespace {

// Extents that are not known get a name each, so that what is computed from one is known to fit.
ValueType with_named_extents(ValueType type, const std::string& name) {
  if (!type.dims) return type;
  for (std::size_t i = 0; i < type.dims->size(); ++i) {
    if (!(*type.dims)[i].known()) (*type.dims)[i] = Dim::named(fmt::format("{}.{}", name, i));
  }
  return type;
}

const ValueType* shape_at(const NodeDef& def, std::string_view attribute, std::size_t i) {
  const AttributeValue* value = find_attribute(def, attribute);
  if (!value) return nullptr;
  if (const auto* one = std::get_if<ValueType>(value)) return i == 0 ? one : nullptr;
  const auto* list = std::get_if<std::vector<ValueType>>(value);
  return list && i < list->size() ? &(*list)[i] : nullptr;
}

ValueType type_of_input(const NodeDef& def) {
  ElementType element = ElementType::undefined;
  for (const char* name : {"dtype", "T"}) {
    if (element == ElementType::undefined) element = type_attribute(def, name);
  }
  ValueType type = ValueType::tensor(element);
  for (const char* name : {"shape", "_output_shapes"}) {
    const ValueType* shape = shape_at(def, name, 0);
    if (!type.dims && shape) type.dims = shape->dims;
  }
  return type;
}

std::size_t list_size(const NodeDef& def, std::string_view name) {
  const AttributeValue* value = find_attribute(def, name);
  const auto* number = value ? std::get_if<std::int64_t>(value) : nullptr;
  return number && *number > 0 ? static_cast<std::size_t>(*number) : 0;
}

// Output `i` of a source. Those that parse examples give indices, values and shapes of sparse
// columns before the dense ones.
ValueType type_of_source(const WiredNode& node, std::size_t i) {
  const NodeDef& def = *node.def;
  std::size_t place = i;
  if (node.definition->outputs_attribute == "Tdense") {
    const std::size_t sparse =
        3 * std::max(list_size(def, "num_sparse"), list_size(def, "Nsparse"));
    if (i < sparse) return {};
    place = i - sparse;
  }
  ValueType type = ValueType::tensor(type_attribute(def, "out_type"));
  const AttributeValue* types = find_attribute(def, node.definition->outputs_attribute);
  const auto* list = types ? std::get_if<std::vector<std::int64_t>>(types) : nullptr;
  if (list && place < list->size()) type.element = static_cast<ElementType>((*list)[place]);
  if (type.element == ElementType::undefined) type.element = ElementType::string;
  for (const char* name : {"output_shapes", "shapes", "dense_shapes", "_output_shapes"}) {
    const ValueType* shape = shape_at(def, name, name[0] == '_' ? i : place);
    if (!type.dims && shape) type.dims = shape->dims;
  }
  return type;
}

Properties origin_of(const NodeDef& def, const std::string& part) {
  return {{std::string(kOriginNode), def.name},
          {std::string(kOriginOp), def.op},
          {std::string(kOriginPart), part}};
}

}  // namespace

void Emitter::emit_input(std::size_t node, const std::string& part) {
  const NodeDef& def = *wiring_[node].def;
  input_places_.try_emplace(def.name, model_.graph.inputs.size());
  model_.graph.inputs.push_back(
      {def.name, with_named_extents(type_of_input(def), def.name), {}, origin_of(def, part)});
}

// Mean squares are not negative, and powers of a decay are below 1.
void Emitter::note_slots(const WiredNode& node) {
  for (const SlotRange& slot : node.definition->slots) {
    if (slot.input >= node.inputs.size()) continue;
    const std::size_t root = wiring_.root_of(node.inputs[slot.input]).node;
    if (root == kNowhere || wiring_[root].part() != Part::parameter) continue;
    const std::string& name = wiring_[root].def->name;
    const auto place = input_places_.find(name);
    if (place == input_places_.end()) continue;
    Properties& metadata = model_.graph.inputs[place->second].metadata;
    if (find_property(metadata, kOriginLeast)) continue;
    metadata.emplace_back(kOriginLeast, fmt::format("{}", slot.least));
    metadata.emplace_back(kOriginMost, fmt::format("{}", slot.most));
  }
}

// The standard has a default where it is a constant; anything else is passed on.
void Emitter::emit_default(std::size_t node, Scope& scope) {
  const WiredNode& wired = wiring_[node];
  const std::size_t from = wired.inputs.empty() ? kNowhere : wired.inputs.front().node;
  const bool constant = from != kNowhere && wiring_[from].part() == Part::constant;
  const AttributeValue* value = constant ? find_attribute(*wiring_[from].def, "value") : nullptr;
  const auto* tensor = value ? std::get_if<Tensor>(value) : nullptr;
  if (tensor && tensor->defined()) {
    emit_input(node, "input");
    model_.graph.inputs.back().type.element = tensor->type();
    model_.graph.initializers.push_back({wired.def->name, *tensor, {}, {}});
  } else if (from != kNowhere) {
    add_copy(node, input(node, 0, scope), own_value(node, 0, scope), scope);
  } else {
    emit_unknown(node, scope, "it has no default");
  }
}

void Emitter::emit_source(std::size_t node) {
  const WiredNode& wired = wiring_[node];
  const std::size_t root =
      wired.inputs.empty() ? kNowhere : wiring_.root_of(wired.inputs.front()).node;
  for (std::size_t i = 0; i < wired.outputs; ++i) {
    const std::string name = wiring_.value_name({node, i});
    NamedType input{name,
                    with_named_extents(type_of_source(wired, i), name),
                    {},
                    origin_of(*wired.def, "source")};
    if (root != kNowhere) {
      input.metadata.emplace_back(kOriginSource, wiring_[root].def->name);
    }
    input.metadata.emplace_back(kOriginIndex, fmt::format("{}", i));
    model_.graph.inputs.push_back(std::move(input));
  }
}

}  // namespace assay::tensorflow

// What the standard's table demands of every node: numbers of inputs and outputs, types,
// attributes.
#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/names.h"
#include "ops/catalogue.h"

namespace assay {
namespace {

const FormalParameter* formal_at(std::span<const FormalParameter> formals, std::size_t i) {
  if (i < formals.size()) return &formals[i];
  if (!formals.empty() && formals.back().arity == Arity::variadic) return &formals.back();
  return nullptr;
}

// Whether the input at this place must be given, if one is listed there at all.
bool is_needed(const Schema& schema, const FormalParameter& formal, std::size_t i) {
  if (formal.arity == Arity::single) return true;
  return formal.arity == Arity::variadic &&
         i + 1 - schema.inputs.size() < static_cast<std::size_t>(formal.min_arity);
}

std::string count_text(int least, int most, std::string_view what) {
  if (most == kNoLimit) return fmt::format("at least {} {}", least, what);
  return least == most ? fmt::format("{} {}", most, what)
                       : fmt::format("{} to {} {}", least, most, what);
}

// An input that is left out with an empty name counts as one; any number of them may be at the end.
// Texts are put together only for what does not hold: this runs before every evaluation.
bool check_counts(Check& c, const Schema& schema) {
  const std::size_t listed = c.site.input_count();
  std::size_t given = listed;
  while (given > 0 && !c.site.has_input(given - 1)) --given;
  const auto least = static_cast<std::size_t>(schema.min_inputs);
  const auto inputs = static_cast<std::int64_t>(std::max(given, std::min(listed, least)));
  const auto outputs = static_cast<std::int64_t>(c.site.output_count());
  bool holds = true;
  if (inputs < schema.min_inputs || inputs > schema.max_inputs) {
    holds = c.argument(false, "inputs", count_text(schema.min_inputs, schema.max_inputs, "inputs"),
                       fmt::format("{}", inputs));
  }
  if (outputs < schema.min_outputs || outputs > schema.max_outputs) {
    holds =
        c.argument(false, "outputs", count_text(schema.min_outputs, schema.max_outputs, "outputs"),
                   fmt::format("{}", outputs));
  }
  for (std::size_t i = 0; i < listed; ++i) {
    const FormalParameter* formal = formal_at(schema.inputs, i);
    if (!formal || c.site.has_input(i) || !is_needed(schema, *formal, i)) continue;
    holds = c.argument(false, "inputs", fmt::format("input {}", formal->name), "none");
  }
  return holds;
}

// How the standard spells a type; `room` is for what is no tensor. Every check of a node asks.
std::string_view spelled(const ValueType& type, std::string& room) {
  static const auto kTensors = [] {
    std::array<std::string, kElementTypeCount> names;
    for (std::size_t i = 0; i < names.size(); ++i) {
      names[i] = standard_name(ValueType::tensor(static_cast<ElementType>(i)));
    }
    return names;
  }();
  if (type.is_tensor()) return kTensors[static_cast<std::size_t>(type.element)];
  room = standard_name(type);
  return room;
}

// Whether a part of the type is not known.
bool is_open(const ValueType& type, std::string_view spelled) {
  if (type.is_tensor()) return type.element == ElementType::undefined;
  return spelled.find("undefined") != std::string_view::npos;
}

bool allowed(const Schema& schema, std::string_view type, std::string_view found) {
  if (const TypeConstraint* constraint = schema.find_constraint(type))
    return std::find(constraint->allowed.begin(), constraint->allowed.end(), found) !=
           constraint->allowed.end();
  return type == found;
}

bool refuse_type(Check& c, const Schema& schema, const FormalParameter& formal,
                 std::string_view found) {
  return c.that(false, "Type Error", "type", std::string(formal.type), std::string(found),
                kArgumentBadness,
                fmt::format("{} does not take {} as {}", schema.name, found, formal.name));
}

// One constraint name stands for one type throughout a node.
bool check_types(Check& c, const Schema& schema) {
  InlineVector<std::size_t, 4> bound;  // the first input of each kind
  std::string room, other_room;
  bool holds = true;
  for (std::size_t i = 0; i < c.site.input_count(); ++i) {
    const FormalParameter* formal = formal_at(schema.inputs, i);
    if (!formal || !c.site.has_input(i)) continue;
    const ValueType& type = c.site.type(i);
    const std::string_view found = spelled(type, room);
    if (is_open(type, found)) {
      c.undecided("type", fmt::format("the type of {}", formal->name));
      continue;
    }
    const bool alike = formal->arity != Arity::variadic || formal->homogeneous;
    const auto known = std::ranges::find_if(bound, [&](std::size_t one) {
      return alike && formal_at(schema.inputs, one)->type == formal->type;
    });
    if (known != bound.end()) {
      const std::string_view other = spelled(c.site.type(*known), other_room);
      if (other == found) continue;  // which is allowed
      if (!allowed(schema, formal->type, found)) {
        holds = refuse_type(c, schema, *formal, found);
        continue;
      }
      holds =
          c.that(false, "Type Error", "same-type", std::string(other), std::string(found),
                 kArgumentBadness,
                 fmt::format("{} needs one type for all inputs of kind {}, but {} is {} beside {}",
                             schema.name, formal->type, formal->name, found, other));
    } else if (!allowed(schema, formal->type, found)) {
      holds = refuse_type(c, schema, *formal, found);
    } else if (alike) {
      bound.push_back(i);
    }
  }
  return holds;
}

std::string_view kind_text(AttributeKind kind) {
  static constexpr std::string_view kNames[] = {
      "nothing", "a real number",   "a whole number", "a text", "a tensor",
      "a graph", "real numbers",    "whole numbers",  "texts",  "tensors",
      "graphs",  "a sparse tensor", "sparse tensors", "a type", "types"};
  return kNames[static_cast<std::size_t>(kind)];
}

// In the order of AttributeValue's alternatives.
constexpr AttributeKind kAlternatives[] = {
    AttributeKind::integer,       AttributeKind::real,     AttributeKind::text,
    AttributeKind::tensor,        AttributeKind::graph,    AttributeKind::type,
    AttributeKind::sparse_tensor, AttributeKind::integers, AttributeKind::reals,
    AttributeKind::texts,         AttributeKind::tensors,  AttributeKind::graphs,
    AttributeKind::types,         AttributeKind{},  // a reference
    AttributeKind::sparse_tensors};
static_assert(std::size(kAlternatives) == std::variant_size_v<AttributeValue>);

bool check_attributes(Check& c, const Schema& schema) {
  bool holds = true;
  std::size_t known = 0;
  for (const AttributeFormal& formal : schema.attributes) {
    const AttributeValue* value = c.site.node().find(formal.name);
    if (!value) {
      if (!formal.required) continue;
      holds =
          c.argument(false, "attribute-required", fmt::format("attribute {}", formal.name), "none");
      continue;
    }
    ++known;
    if (std::holds_alternative<AttributeReference>(*value)) continue;
    const AttributeKind kind = kAlternatives[value->index()];
    if (kind == formal.kind) continue;
    holds = c.argument(false, "attribute-kind",
                       fmt::format("{} to be {}", formal.name, kind_text(formal.kind)),
                       std::string(kind_text(kind)));
  }
  if (known == c.site.node().attributes.size()) return holds;
  for (const Attribute& attribute : c.site.node().attributes) {
    if (schema.find_attribute(attribute.name)) continue;
    holds = c.argument(false, "attribute-unknown",
                       fmt::format("an attribute of {}-{}", schema.name, schema.since_version),
                       printable(attribute.name));
  }
  return holds;
}

}  // namespace

void check_node(Check& check, const Operator& entry, const Schema& schema) {
  bool holds = check_counts(check, schema);
  holds = check_types(check, schema) && holds;
  holds = check_attributes(check, schema) && holds;
  if (holds && entry.require) entry.require(check);
}

}  // namespace assay

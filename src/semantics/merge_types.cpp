#include "semantics/merge_types.h"

#include <map>

#include <fmt/format.h>

namespace assay {
namespace {

enum class Conflict : std::uint8_t { none, type, rank, extent };

Conflict merge_dims(std::optional<Dims>& dims, const std::optional<Dims>& other) {
  if (!other) return Conflict::none;
  if (!dims) {
    dims = other;
    return Conflict::none;
  }
  if (dims->size() != other->size()) return Conflict::rank;
  for (std::size_t d = 0; d < dims->size(); ++d) {
    if ((*dims)[d].differs_from((*other)[d])) return Conflict::extent;
  }
  for (std::size_t d = 0; d < dims->size(); ++d) {
    Dim& dim = (*dims)[d];
    if (!dim.known() && ((*other)[d].known() || dim.symbol.empty())) dim = (*other)[d];
  }
  return Conflict::none;
}

Conflict merge(ValueType& type, const ValueType& other) {
  if (other.kind == ValueType::Kind::unknown) return Conflict::none;
  if (type.kind == ValueType::Kind::unknown) {
    type = other;
    return Conflict::none;
  }
  if (type.kind != other.kind) return Conflict::type;
  if (type.element == ElementType::undefined) type.element = other.element;
  if (other.element != ElementType::undefined && type.element != other.element) {
    return Conflict::type;
  }
  if (Conflict conflict = merge_dims(type.dims, other.dims); conflict != Conflict::none) {
    return conflict;
  }
  if (!other.inner) return Conflict::none;
  ValueType inner = type.inner ? *type.inner : ValueType{};
  if (Conflict conflict = merge(inner, *other.inner); conflict != Conflict::none) return conflict;
  type.inner = std::make_shared<const ValueType>(std::move(inner));
  return Conflict::none;
}

// The type inside "tensor(...)", "seq(tensor(...))", ...; unknown for anything else.
ValueType parse_standard(std::string_view name) {
  const auto inside = [&](std::string_view head) -> std::optional<std::string_view> {
    if (!name.starts_with(head) || !name.ends_with(")")) return std::nullopt;
    return name.substr(head.size(), name.size() - head.size() - 1);
  };
  if (const auto element = inside("tensor(")) {
    const auto type = element_type_from_standard_name(*element);
    return type ? ValueType::tensor(*type) : ValueType{};
  }
  if (const auto inner = inside("seq(")) return ValueType::sequence(parse_standard(*inner));
  if (const auto inner = inside("optional(")) return ValueType::optional(parse_standard(*inner));
  return {};
}

ValueType without_shape(ValueType type) {
  type.dims.reset();
  if (type.inner) type.inner = std::make_shared<const ValueType>(without_shape(*type.inner));
  return type;
}

const FormalParameter* formal_at(std::span<const FormalParameter> formals, std::size_t i) {
  if (i < formals.size()) return &formals[i];
  const bool variadic = !formals.empty() && formals.back().arity == Arity::variadic;
  return variadic ? &formals.back() : nullptr;
}

}  // namespace

std::optional<Violation> merge_declared(ValueType& type, const ValueType& declared,
                                        const std::string& what) {
  ValueType merged = type;
  const Conflict conflict = merge(merged, declared);
  if (conflict == Conflict::none) {
    type = std::move(merged);
    return std::nullopt;
  }
  const std::string expected = to_text(declared), found = to_text(type);
  Violation violation{"Shape Error", "Graph.declared-shape", expected, found, kShapeBadness, ""};
  if (conflict == Conflict::type) {
    violation.kind = "Type Error";
    violation.rule = "Graph.declared-type";
    violation.badness = kArgumentBadness;
  } else if (conflict == Conflict::rank) {
    violation.kind = "Dimension Error";
    violation.badness = kRankBadness;
  }
  violation.message = fmt::format("{} is declared as {}, but is {}", what, expected, found);
  return violation;
}

std::vector<ValueType> types_from_schema(const Schema& schema, const Site& site) {
  std::map<std::string_view, ValueType> bound;
  for (std::size_t i = 0; i < site.input_count(); ++i) {
    const FormalParameter* formal = formal_at(schema.inputs, i);
    if (!formal || !site.has_input(i) ||
        (formal->arity == Arity::variadic && !formal->homogeneous)) {
      continue;
    }
    bound.emplace(formal->type, without_shape(site.type(i)));
  }
  std::vector<ValueType> types(site.output_count());
  for (std::size_t i = 0; i < types.size(); ++i) {
    const FormalParameter* formal = formal_at(schema.outputs, i);
    if (!formal || (formal->arity == Arity::variadic && !formal->homogeneous)) continue;
    const TypeConstraint* constraint = schema.find_constraint(formal->type);
    if (const auto known = bound.find(formal->type); known != bound.end()) {
      types[i] = known->second;
    } else if (!constraint) {
      types[i] = parse_standard(formal->type);
    } else if (constraint->allowed.size() == 1) {
      types[i] = parse_standard(constraint->allowed.front());
    }
  }
  return types;
}

}  // namespace assay

#include "cli/ops_page.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/terminal.h"

namespace assay {
namespace {

const Schema& newest_schema(const Entries& entries) {
  const Operator& entry = *entries.back();
  return *find_schema(entry.domain, entry.name, versions_of(entries).back());
}

std::string arity_text(const FormalParameter& formal) {
  switch (formal.arity) {
    case Arity::single:
      return "";
    case Arity::optional:
      return "optional";
    case Arity::variadic:
      break;
  }
  return fmt::format("any number from {}", formal.min_arity);
}

// "tensor(float)" as "f32"; containers stay as the standard spells them.
std::string short_type(std::string_view type) {
  const std::string_view head = "tensor(";
  if (!type.starts_with(head) || !type.ends_with(")")) return std::string(type);
  const auto element =
      element_type_from_standard_name(type.substr(head.size(), type.size() - head.size() - 1));
  return element ? std::string(short_name(*element)) : std::string(type);
}

std::string constraint_text(const TypeConstraint& constraint) {
  std::vector<std::string> types;
  for (std::string_view type : constraint.allowed) types.push_back(short_type(type));
  return fmt::format("{}", fmt::join(types, ", "));
}

std::string kind_text(AttributeKind kind) {
  static constexpr std::array<std::string_view, 15> kNames = {
      "",        "float",   "int",    "string",        "tensor",         "graph", "floats", "ints",
      "strings", "tensors", "graphs", "sparse tensor", "sparse tensors", "type",  "types"};
  return std::string(kNames[static_cast<std::size_t>(kind)]);
}

std::string default_text(const AttributeFormal& formal) {
  if (formal.required) return "required";
  if (!formal.has_default) return "";
  switch (formal.kind) {
    case AttributeKind::real:
      return fmt::format("{:.6g}", formal.real);
    case AttributeKind::integer:
      return fmt::format("{}", formal.integer);
    case AttributeKind::text:
      return fmt::format("\"{}\"", formal.text);
    case AttributeKind::reals:
      return fmt::format("{}", formal.reals);
    case AttributeKind::integers:
      return fmt::format("{}", formal.integers);
    case AttributeKind::texts:
      return fmt::format("{}", formal.texts);
    default:
      return "";
  }
}

std::string role_text(const Entries& entries, std::string_view attribute) {
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    for (const AttributeRole& role : (*entry)->attributes) {
      if (role.name == attribute) return std::string(to_text(role.role));
    }
  }
  return "";
}

std::string adjoint_text(const Operator& entry) {
  return entry.adjoint.graph ? "a graph of operators"
                             : fmt::format("none: {}", entry.adjoint.reason);
}

std::string kind_of(const Variant& variant) {
  return variant.kind == Variant::Kind::defect ? "defect" : "difference";
}

std::string note_text(const Entries& entries, const AttributeFormal& formal) {
  const std::string fallback = default_text(formal);
  const std::string role = role_text(entries, formal.name);
  std::string text = formal.required || fallback.empty() ? fallback : "default " + fallback;
  if (!role.empty()) text += fmt::format("{}role {}", text.empty() ? "" : ", ", role);
  return text;
}

std::string table_markdown(const Entries& entries, const Schema& schema) {
  std::string text = "| | name | type | |\n|---|---|---|---|\n";
  const auto row = [&](const char* what, std::string_view name, const std::string& type,
                       const std::string& note) {
    text += fmt::format("| {} | `{}` | {} | {} |\n", what, name, type, note);
  };
  for (const FormalParameter& formal : schema.inputs) {
    row("input", formal.name, short_type(formal.type), arity_text(formal));
  }
  for (const FormalParameter& formal : schema.outputs) {
    row("output", formal.name, short_type(formal.type), arity_text(formal));
  }
  for (const AttributeFormal& formal : schema.attributes) {
    row("attribute", formal.name, kind_text(formal.kind), note_text(entries, formal));
  }
  text += "\n";
  for (const TypeConstraint& constraint : schema.constraints) {
    text += fmt::format("- {}: {}\n", constraint.name, constraint_text(constraint));
  }
  return text;
}

std::string operator_markdown(const Entries& entries, const Rules& rules) {
  const Operator& newest = *entries.back();
  const Schema& schema = newest_schema(entries);
  std::string text = fmt::format("### {}\n{}\n\n", full_name(newest), newest.summary);
  text += fmt::format("Versions {} · pattern {} · readings {}\n\n",
                      fmt::join(versions_of(entries), ", "), to_text(newest.meaning.pattern),
                      fmt::join(readings_of(entries), ", "));
  text += table_markdown(entries, schema);
  if (const auto known = rules.find(newest.name); known != rules.end()) {
    text += fmt::format("- rules: `{}`\n", fmt::join(known->second, "`, `"));
  }
  for (const Operator* entry : entries) {
    for (const Variant& variant : entry->variants) {
      text +=
          fmt::format("- variant `{}` ({}): {}\n", variant.name, kind_of(variant), variant.source);
    }
  }
  return text + fmt::format("- adjoint: {}\n\n", adjoint_text(newest));
}

Table parameters_table(std::span<const FormalParameter> formals, const Schema& schema,
                       const Style& style) {
  Table table;
  for (const FormalParameter& formal : formals) {
    const TypeConstraint* constraint = schema.find_constraint(formal.type);
    table.row({std::string(formal.name), short_type(formal.type),
               constraint ? constraint_text(*constraint) : "", style.dim(arity_text(formal))});
  }
  return table;
}

}  // namespace

std::vector<int> versions_of(const Entries& entries) {
  std::vector<int> versions;
  for (const Operator* entry : entries) {
    versions.insert(versions.end(), entry->versions.begin(), entry->versions.end());
  }
  std::sort(versions.begin(), versions.end());
  return versions;
}

std::vector<std::string> readings_of(const Entries& entries) {
  std::vector<std::string> readings = {"value", "bounded"};
  const Operator& newest = *entries.back();
  if (newest.meaning.answers_interval) readings.emplace_back("interval");
  if (newest.infer || newest.meaning.composition) readings.emplace_back("shape");
  if (newest.adjoint.graph) readings.emplace_back("adjoint");
  readings.emplace_back("roles");
  return readings;
}

std::string_view to_text(Role role) {
  static constexpr std::array<std::string_view, 21> kNames = {
      "sizes",  "pads",   "axis",    "axes",  "permutation", "flag",    "count",
      "index",  "number", "epsilon", "ratio", "factor",      "factors", "bounds",
      "choice", "type",   "seed",    "body",  "value",       "text",    "table"};
  return kNames[static_cast<std::size_t>(role)];
}

std::string list_page(const Operators& operators) {
  Table table;
  for (const auto& [key, entries] : operators) {
    const Operator& newest = *entries.back();
    table.row({full_name(newest), std::string(to_text(newest.meaning.pattern)),
               std::string(newest.summary)});
  }
  return table.text("");
}

std::string operator_page(const Entries& entries) {
  const Style style;
  const Operator& newest = *entries.back();
  const Schema& schema = newest_schema(entries);
  std::string page = fmt::format("{}\n  {}\n\n", style.bold(full_name(newest)), newest.summary);
  Table facts;
  facts.row({"versions", fmt::format("{}", fmt::join(versions_of(entries), ", "))});
  facts.row({"pattern", std::string(to_text(newest.meaning.pattern))});
  facts.row({"readings", fmt::format("{}", fmt::join(readings_of(entries), ", "))});
  facts.row({"adjoint", adjoint_text(newest)});
  page += facts.text();
  page += style.bold("inputs\n") + parameters_table(schema.inputs, schema, style).text();
  page += style.bold("outputs\n") + parameters_table(schema.outputs, schema, style).text();
  if (!schema.attributes.empty()) page += style.bold("attributes\n");
  Table attributes;
  for (const AttributeFormal& formal : schema.attributes) {
    attributes.row({std::string(formal.name), kind_text(formal.kind), default_text(formal),
                    style.dim(role_text(entries, formal.name))});
  }
  page += attributes.text();
  Table variants;
  for (const Operator* entry : entries) {
    for (const Variant& variant : entry->variants) {
      variants.row({std::string(variant.name), kind_of(variant), std::string(variant.source)});
    }
  }
  if (!variants.empty()) page += style.bold("variants\n") + variants.text();
  return page;
}

std::string markdown_page(const Operators& operators, const Rules& rules) {
  std::string page = fmt::format(
      "# Operators\nWritten by `make docs` from the catalogue: {} operators. "
      "[adding-an-operator.md](adding-an-operator.md) says what the words mean. Types and "
      "attributes are those of the newest version.\n\n",
      operators.size());
  std::string domain = "?";
  for (const auto& [key, entries] : operators) {
    if (key.first != domain) {
      domain = key.first;
      page += fmt::format("## {}\n", domain.empty() ? "ai.onnx" : domain);
    }
    page += operator_markdown(entries, rules);
  }
  return page;
}

}  // namespace assay

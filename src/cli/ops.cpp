// assay ops: prints the catalogue.
#include <algorithm>
#include <filesystem>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "backends/install.h"
#include "cli/command.h"
#include "cli/layers_page.h"
#include "cli/ops_page.h"
#include "formats/text_case.h"
#include "layers/keras/layers.h"

namespace assay {
namespace {

constexpr const char* kHelp = R"(Examples:
  assay ops                       all operators, a line each
  assay ops AveragePool           all about one
  assay ops --markdown            the reference of docs/operators.md
  assay ops --layers Conv2D       all about a layer of Keras
  assay ops --layers --markdown   the reference of docs/layers.md)";

struct Options {
  std::string name;
  bool markdown = false;
  bool layers = false;
  std::string cases = "tests/cases";
};

using BackendsByOperator = std::map<std::string, std::vector<std::string>>;

nlohmann::ordered_json to_json(const Entries& entries, const BackendsByOperator& others) {
  nlohmann::ordered_json variants = nlohmann::ordered_json::array();
  for (const Operator* entry : entries) {
    for (const Variant& variant : entry->variants) {
      variants.push_back({{"name", variant.name},
                          {"kind", variant.kind == Variant::Kind::defect ? "defect" : "difference"},
                          {"source", variant.source}});
    }
  }
  const Operator& newest = *entries.back();
  nlohmann::ordered_json attributes = nlohmann::ordered_json::object();
  for (const Operator* entry : entries) {
    for (const AttributeRole& attribute : entry->attributes) {
      attributes[std::string(attribute.name)] = to_text(attribute.role);
    }
  }
  std::vector<std::string> backends = {"reference"};
  if (const auto more = others.find(full_name(newest)); more != others.end()) {
    backends.insert(backends.end(), more->second.begin(), more->second.end());
  }
  return {{"domain", newest.domain},
          {"name", newest.name},
          {"versions", versions_of(entries)},
          {"pattern", to_text(newest.meaning.pattern)},
          {"summary", newest.summary},
          {"readings", readings_of(entries)},
          {"attributes", std::move(attributes)},
          {"variants", std::move(variants)},
          {"backends", std::move(backends)}};
}

Operators select(const std::string& name) {
  Operators operators;
  for (const Operator& entry : catalogue()) {
    if (name.empty() || entry.name == name || full_name(entry) == name) {
      operators[{entry.domain, entry.name}].push_back(&entry);
    }
  }
  for (auto& [key, entries] : operators) {
    std::sort(entries.begin(), entries.end(), [](const Operator* a, const Operator* b) {
      return *std::max_element(a->versions.begin(), a->versions.end()) <
             *std::max_element(b->versions.begin(), b->versions.end());
    });
  }
  return operators;
}

// The rules that the case files refuse something by.
Result<Rules> read_rules(const std::string& folder) {
  Rules rules;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    if (entry.path().extension() != ".txt") continue;
    const Result<std::vector<TextCase>> cases = read_cases(entry.path());
    if (!cases) return cases.error();
    for (const TextCase& one : *cases) {
      for (const TextChange& refusal : one.refusals) rules[one.node.op].insert(refusal.rule);
    }
  }
  return rules;
}

Result<ExitCode> run_layers(const Options& options, Report& report) {
  report.document["layers"] = nlohmann::ordered_json::array();
  const keras::Layer* one = options.name.empty() ? nullptr : keras::find_layer(options.name);
  if (!options.name.empty() && !one) {
    return Error{"usage", fmt::format("no layer '{}' is known", options.name), options.name};
  }
  for (const keras::Layer& layer : keras::layers()) {
    if (!one || one == &layer) report.document["layers"].push_back(layer_json(layer));
  }
  report.text = one ? layer_page(*one) : options.markdown ? layer_reference() : layer_list();
  return ExitCode::clean;
}

Result<ExitCode> run(const Options& options, Report& report) {
  if (options.layers) return run_layers(options, report);
  const Operators operators = select(options.name);
  if (operators.empty()) {
    return Error{"usage", fmt::format("the catalogue has no operator '{}'", options.name),
                 options.name};
  }
  report.document["operators"] = nlohmann::ordered_json::array();
  const BackendsByOperator others = report.json() ? backends_by_operator() : BackendsByOperator();
  for (const auto& [key, entries] : operators) {
    report.document["operators"].push_back(to_json(entries, others));
  }
  if (options.markdown) {
    const Result<Rules> rules = read_rules(options.cases);
    if (!rules) return rules.error();
    report.text = markdown_page(operators, *rules);
  } else if (options.name.empty()) {
    report.text = list_page(operators);
  } else {
    for (const auto& [key, entries] : operators) report.text += operator_page(entries);
  }
  return ExitCode::clean;
}

Action configure(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("NAME", options->name, "One operator (default: all)")->type_name("");
  app.add_flag("--markdown", options->markdown, "Print the reference as Markdown");
  app.add_flag("--layers", options->layers, "Keras' layers in the place of operators");
  app.add_option("--cases", options->cases,
                 "Case files to take the rules from (default: tests/cases)")
      ->type_name("FOLDER");
  return [options](Report& report) { return run(*options, report); };
}

}  // namespace

Command ops_command() { return {"ops", "Print the catalogue of operators", kHelp, configure}; }

}  // namespace assay

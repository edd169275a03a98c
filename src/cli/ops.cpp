// assay ops: prints the catalogue.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "cli/command.h"
#include "ops/catalogue.h"

namespace assay {
namespace {

struct Options {
  std::string name;
};

// Entries of one operator, which may have several for versions that mean different things.
using Entries = std::vector<const Operator*>;

std::vector<std::string> readings_of(const Entries& entries) {
  std::vector<std::string> readings = {"value", "bounded"};
  const Operator& newest = *entries.back();
  if (newest.meaning.answers_interval) readings.emplace_back("interval");
  if (newest.infer || newest.meaning.pattern == Pattern::function) readings.emplace_back("shape");
  if (newest.adjoint.graph) readings.emplace_back("adjoint");
  readings.emplace_back("roles");
  return readings;
}

nlohmann::ordered_json to_json(const Entries& entries) {
  std::vector<int> versions;
  nlohmann::ordered_json variants = nlohmann::ordered_json::array();
  for (const Operator* entry : entries) {
    versions.insert(versions.end(), entry->versions.begin(), entry->versions.end());
    for (const Variant& variant : entry->variants)
      variants.push_back({{"name", variant.name},
                          {"kind", variant.kind == Variant::Kind::defect ? "defect" : "difference"},
                          {"source", variant.source}});
  }
  std::sort(versions.begin(), versions.end());
  const Operator& newest = *entries.back();
  return {{"domain", newest.domain},        {"name", newest.name},
          {"versions", versions},           {"pattern", to_text(newest.meaning.pattern)},
          {"summary", newest.summary},      {"readings", readings_of(entries)},
          {"variants", std::move(variants)}, {"backends", {"reference"}}};
}

Result<ExitCode> run(const Options& options, Report& report) {
  std::map<std::pair<std::string_view, std::string_view>, Entries> operators;
  for (const Operator& entry : catalogue())
    if (options.name.empty() || entry.name == options.name)
      operators[{entry.domain, entry.name}].push_back(&entry);
  if (operators.empty())
    return Error{"usage", fmt::format("the catalogue has no operator '{}'", options.name), options.name};
  report.document["operators"] = nlohmann::ordered_json::array();
  for (const auto& [key, entries] : operators) {
    nlohmann::ordered_json one = to_json(entries);
    report.text += fmt::format("{:28} {:12} {}\n", key.first.empty() ? std::string(key.second) : fmt::format("{}.{}", key.first, key.second),
                               std::string(to_text(entries.back()->meaning.pattern)), entries.back()->summary);
    report.document["operators"].push_back(std::move(one));
  }
  return ExitCode::clean;
}

}  // namespace

Command ops_command() {
  return {"ops", "Print the catalogue of operators", "Example:\n  assay ops AveragePool",
          [](CLI::App& app) -> Action {
            auto options = std::make_shared<Options>();
            app.add_option("NAME", options->name, "One operator (default: all)");
            return [options](Report& report) { return run(*options, report); };
          }};
}

}  // namespace assay

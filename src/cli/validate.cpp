// assay validate: what is wrong with a model, without running it.
#include "validate/validate.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/baseline.h"
#include "cli/command.h"
#include "cli/finding_json.h"
#include "cli/model.h"
#include "cli/terminal.h"
#include "formats/onnx_export.h"
#include "graph/names.h"
#include "ops/check.h"
#include "semantics/expand_layers.h"
#include "validate/repair.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kHelp =
    R"(Checks names, order, types, shapes and attributes of every node, also inside subgraphs and
functions, as far as the file tells. What only data can decide is listed as undecided; an
operator that is not in the catalogue is noted and is no error.

Examples:
  assay validate model.onnx
  assay validate model.onnx --json | jq '.findings[0]'
  assay validate model.keras --repair repaired.onnx)";

struct Options {
  std::string model;
  std::string repaired;  // the file to write
  bool undecided = false;
  std::string baseline;
  std::string fail_on = "error";
};

void fill_document(const Options& options, const ValidationResult& result, Json& document) {
  document["model"] = options.model;
  document["valid"] = result.valid();
  Json& findings = document["findings"] = Json::array();
  for (const Finding& finding : result.findings) findings.push_back(to_json(finding));
  Json& undecided = document["undecided"] = Json::array();
  for (const OpenQuestion& open : result.undecided) {
    undecided.push_back({{"layer", open.layer}, {"rule", open.rule}, {"needs", open.needs}});
  }
  Json& unknown = document["unknown"] = Json::array();
  for (const UnknownNode& node : result.unknown) {
    unknown.push_back(
        {{"layer", node.layer}, {"class", node.operator_name}, {"domain", node.domain}});
  }
}

std::string heading(const Options& options, const ValidationResult& result, const Style& style) {
  if (!result.valid()) {
    return fmt::format(
        "{}: {}\n", style.bold(options.model),
        style.bad(counted(static_cast<std::int64_t>(result.findings.size()), "finding")));
  }
  std::string page = fmt::format("{}: {}", style.bold(options.model), style.good("valid"));
  if (!result.undecided.empty()) {
    page += fmt::format(", {} undecided",
                        with_separators(static_cast<std::int64_t>(result.undecided.size())));
  }
  if (!result.unknown.empty()) {
    page += fmt::format(", {} unknown to the catalogue",
                        counted(static_cast<std::int64_t>(result.unknown.size()), "node"));
  }
  return page + "\n";
}

std::string to_page(const Options& options, const ValidationResult& result) {
  const Style style;
  std::string page = heading(options, result, style);
  for (const Finding& finding : result.findings) {
    page += fmt::format("\n  {}{}\n", style.bold(finding.layer.empty() ? "model" : finding.layer),
                        finding.operator_name.empty()
                            ? ""
                            : fmt::format(" ({})", printable(finding.operator_name)));
    page += fmt::format("    {}: {}\n", style.bad(finding.kind), finding.message);
    page += fmt::format("    {}\n", style.dim("rule " + finding.rule));
  }
  if (options.undecided && !result.undecided.empty()) {
    page += "\nundecided\n";
    Table table;
    for (const OpenQuestion& open : result.undecided) {
      table.row({open.layer, open.rule, "needs " + open.needs});
    }
    page += table.text();
  }
  if (!result.unknown.empty()) {
    page += "\nunknown to the catalogue\n";
    Table table;
    for (const UnknownNode& node : result.unknown) {
      table.row(
          {node.layer, printable(node.domain.empty() ? node.operator_name
                                                     : node.domain + "." + node.operator_name)});
    }
    page += table.text();
  }
  return page;
}

// A file that decodes, but whose tensors or attributes contradict themselves: the reader's reason
// is the finding.
ValidationResult refused(const Options& options, const Error& error) {
  std::string message = error.message;
  if (message.starts_with(options.model + ": ")) message.erase(0, options.model.size() + 2);
  return {{{"", "", "Graph Error", "Graph.content", "", "", kRankBadness, message}}, {}, {}};
}

// Writes the repaired model; says so, or that there is none.
Result<void> add_repair(const Options& options, const Model& model, Report& report) {
  const std::optional<Repair> found = repair(model);
  Json& document = report.document["repair"] = {{"found", found.has_value()}};
  if (!found) {
    report.text += "\nno repair was found\n";
    return {};
  }
  const Result<Model> written = expand_layers(found->model);
  if (!written) return written.error();
  if (Result<void> done = write_onnx(*written, options.repaired); !done) return done.error();
  report.text += fmt::format("\nrepaired in {}\n", options.repaired);
  document["output"] = options.repaired;
  Json& changes = document["changes"] = Json::array();
  for (const LayerChange& change : found->changes) {
    changes.push_back({{"layer", change.layer}, {"change", change.what}});
    report.text += fmt::format("  {}: {}\n", printable(change.layer), change.what);
  }
  return {};
}

Result<ExitCode> run(const Options& options, Report& report) {
  const Result<Model> model = read_model(options.model);
  if (!model && model.error().kind != "invalid") return model.error();
  ValidationResult result = model ? validate(*model) : refused(options, model.error());
  if (!options.baseline.empty()) {
    const Result<Baseline> baseline = read_baseline(options.baseline);
    if (!baseline) return baseline.error();
    report.document["known"] = std::erase_if(result.findings, [&](const Finding& finding) {
      return baseline->contains({finding.layer, finding.rule});
    });
  }
  if (report.json()) {
    fill_document(options, result, report.document);
  } else {
    report.text = to_page(options, result);
  }
  if (!options.repaired.empty() && model && !result.valid()) {
    if (Result<void> done = add_repair(options, *model, report); !done) return done.error();
  }
  const bool warned = !result.undecided.empty() || !result.unknown.empty();
  const bool fails = !result.valid() || (options.fail_on == "warning" && warned);
  return fails ? ExitCode::found : ExitCode::clean;
}

Action configure(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("MODEL", options->model, "The model")->required()->type_name("");
  app.add_option("--repair", options->repaired,
                 "Write the nearest valid model, and say what was changed (models of layers)")
      ->type_name("OUT.onnx");
  app.add_flag("--undecided", options->undecided, "List what only data can decide");
  app.add_option("--baseline", options->baseline,
                 "Do not report the findings of an earlier --json document")
      ->type_name("F.json")
      ->group("Continuous integration");
  app.add_option(
         "--fail-on", options->fail_on,
         "Exit with 1 on an error (default), or also where something is undecided or unknown")
      ->check(CLI::IsMember({"warning", "error"}).description(""))
      ->type_name("warning|error")
      ->group("Continuous integration");
  return [options](Report& report) { return run(*options, report); };
}

}  // namespace

Command validate_command() {
  return {"validate", "Say what is wrong with a model, without running it", kHelp, configure};
}

}  // namespace assay

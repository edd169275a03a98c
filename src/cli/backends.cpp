// assay backends: what can run models here, installing more of it, and checking that it works.
#include <algorithm>
#include <map>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/backend.h"
#include "backends/install.h"
#include "cli/command.h"
#include "cli/ops_page.h"
#include "cli/terminal.h"
#include "formats/onnx_export.h"
#include "generated/version.h"
#include "ops/catalogue.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kHelp =
    R"(Without a word, lists every backend: each framework, the releases that have files of their own,
and the modes. `install` makes the environment of each one named, once; `check` starts it and runs
a small model. NAME may be any published release, such as onnxruntime-1.20.1 or torch-2.1.

Examples:
  assay backends
  assay backends install onnxruntime torch-1.4
  assay backends check jax-jit)";

struct Options {
  std::string action;
  std::vector<std::string> names;
};

struct Row {
  std::string name, framework, version, environment, problem;
  bool installed = false;
  std::vector<std::string> operators;
  std::vector<std::pair<std::string, std::string>> missing;
};

Json to_json(const Row& row) {
  Json missing = Json::object();
  for (const auto& [name, reason] : row.missing) missing[name] = reason;
  Json json = {{"name", row.name},
               {"framework", row.framework},
               {"version", row.version},
               {"environment", row.environment},
               {"installed", row.installed},
               {"operators", row.operators},
               {"missing", std::move(missing)},
               {"gradients", false}};
  if (!row.problem.empty()) json["problem"] = row.problem;
  return json;
}

Row reference_row() {
  Row row{"reference", "assay", kVersion, "", "", true, {}, {}};
  for (const Operator& entry : catalogue()) row.operators.push_back(full_name(entry));
  row.operators.erase(std::unique(row.operators.begin(), row.operators.end()), row.operators.end());
  return row;
}

// A reason for "*" is that of every operator which is not named otherwise.
std::vector<std::pair<std::string, std::string>> spelled_out(const OperatorList& operators) {
  std::map<std::string, std::string> reasons(operators.missing.begin(), operators.missing.end());
  const auto others = reasons.extract("*");
  for (const std::string& name : reference_row().operators) {
    const bool there = std::find(operators.present.begin(), operators.present.end(), name) !=
                       operators.present.end();
    if (!there && others) reasons.emplace(name, others.mapped());
  }
  return {reasons.begin(), reasons.end()};
}

Row describe(const BackendName& backend) {
  Row row;
  row.name = backend.text;
  row.framework = backend.environment.framework;
  row.environment =
      backend.environment.uses.empty() ? backend.environment.name : backend.environment.uses;
  row.installed = is_installed(backend.environment);
  const std::optional<Capabilities> known = remembered(backend);
  if (!row.installed || !known) return row;
  row.version = known->identity.version;
  row.operators = known->operators.present;
  row.missing = spelled_out(known->operators);
  return row;
}

std::vector<Row> all_rows() {
  std::vector<Row> rows = {reference_row()};
  for (const BackendName& backend : known_backends()) rows.push_back(describe(backend));
  for (const std::string& name : environment_names()) {
    const Result<Environment> environment = read_environment(name);
    if (environment) continue;
    rows.push_back({name, "", "", "", environment.error().message, false, {}, {}});
  }
  return rows;
}

std::string to_page(const std::vector<Row>& rows) {
  const Style style;
  Table table;
  for (const Row& row : rows) {
    std::string state = row.installed ? style.good("installed") : style.dim("not installed");
    if (!row.problem.empty()) state = style.bad(row.problem);
    const std::string operators =
        row.operators.empty() ? "" : fmt::format("{} operators", row.operators.size());
    table.row({style.bold(row.name), row.version, operators, state});
  }
  return table.text("") +
         "\nassay backends install NAME makes one; NAME may be any release, as torch-2.1\n";
}

Result<ExitCode> list(const Options& options, Report& report) {
  std::vector<Row> rows;
  if (options.names.empty()) rows = all_rows();
  for (const std::string& name : options.names) {
    const Result<BackendName> backend = parse_backend(name);
    if (!backend) return backend.error();
    rows.push_back(describe(*backend));
  }
  report.document["backends"] = Json::array();
  for (const Row& row : rows) report.document["backends"].push_back(to_json(row));
  report.text = to_page(rows);
  return ExitCode::clean;
}

Result<ExitCode> install_all(const Options& options, Report& report) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < options.names.size(); ++i) {
    const Result<BackendName> backend = parse_backend(options.names[i]);
    if (!backend) return backend.error();
    ProgressLine progress("install " + backend->text);
    const auto show = [&](const std::string& what) {
      progress.show(i, options.names.size(), what);
    };
    if (Result<void> done = install(backend->environment, show); !done) return done.error();
    show("asking what it can do");
    if (const Result<Capabilities> known = probe(*backend); !known) return known.error();
    rows.push_back(describe(*backend));
  }
  report.document["backends"] = Json::array();
  for (const Row& row : rows) {
    report.document["backends"].push_back(to_json(row));
    report.text +=
        fmt::format("{} {}: {} operators\n", row.name, row.version, row.operators.size());
  }
  return ExitCode::clean;
}

// Y = X + X, small enough to be right in every format.
Model doubling(bool of_layers) {
  Model model;
  model.ir_version = 8;
  model.opsets[of_layers ? "keras" : ""] = of_layers ? 3 : 13;
  Node node;
  node.op = "Add";
  node.domain = of_layers ? "keras" : "";
  node.name = "add";
  node.inputs = {"X", "X"};
  node.outputs = {"Y"};
  model.graph.name = "doubling";
  model.graph.inputs.push_back({"X", ValueType::tensor(ElementType::f32, {Dim(1), Dim(3)})});
  model.graph.outputs.push_back({"Y", ValueType::tensor(ElementType::f32, {Dim(1), Dim(3)})});
  model.graph.nodes.push_back(std::move(node));
  return model;
}

std::string check_one(const std::string& name, const Common& common) {
  BackendOptions options;
  options.worker.threads = std::max(1, common.threads);
  options.limits = {120, common.memory_limit};
  const Result<std::unique_ptr<Backend>> backend = open_backend(name, options);
  if (!backend) return backend.error().message;
  Result<std::string> bytes = to_onnx(doubling((*backend)->takes_layers()));
  if (!bytes) return bytes.error().message;
  const std::vector<double> numbers = {1, -2, 0.5};
  const Answer answer = (*backend)->run(
      {{"", *std::move(bytes)}, {{"X", make_tensor(ElementType::f32, {1, 3}, numbers)}}});
  if (!answer.ok()) return fmt::format("{}: {}", to_text(answer.outcome), answer.message);
  const Value* found = answer.find("Y");
  const Tensor expected = make_tensor(ElementType::f32, {1, 3}, std::vector<double>{2, -4, 1});
  return found && found->is_tensor() && identical(found->tensor(), expected)
             ? ""
             : "it does not add 1, -2, 0.5 to themselves rightly";
}

Result<ExitCode> check_all(const Options& options, Report& report) {
  const Style style;
  bool all = true;
  Json& rows = report.document["backends"] = Json::array();
  for (const std::string& name : options.names) {
    if (const Result<BackendName> backend = parse_backend(name);
        !backend && name != "reference" && !name.starts_with("file:")) {
      return backend.error();
    }
    const std::string problem = check_one(name, report.common());
    all = all && problem.empty();
    rows.push_back({{"name", name}, {"works", problem.empty()}, {"problem", problem}});
    report.text += fmt::format("{}  {}\n", style.bold(name),
                               problem.empty() ? style.good("works") : style.bad(problem));
  }
  return all ? ExitCode::clean : ExitCode::environment;
}

Result<ExitCode> run(const Options& options, Report& report) {
  const bool named = options.action == "install" || options.action == "check";
  if (named && options.names.empty()) {
    return Error{"usage", fmt::format("backends {}: name a backend", options.action), ""};
  }
  if (options.action == "install") return install_all(options, report);
  if (options.action == "check") return check_all(options, report);
  Options rest = options;
  if (!options.action.empty()) rest.names.insert(rest.names.begin(), options.action);
  return list(rest, report);
}

}  // namespace

Command backends_command() {
  return {"backends", "List, install and check what can run models", kHelp,
          [](CLI::App& app) -> Action {
            auto options = std::make_shared<Options>();
            app.add_option("ACTION", options->action, "install, check, or nothing: list")
                ->type_name("");
            app.add_option("NAME", options->names, "Backends")->type_name("");
            return [options](Report& report) { return run(*options, report); };
          }};
}

}  // namespace assay

// assay lint: numerical bugs proved or found before anything runs.
#include "numeric/lint.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <memory>
#include <sstream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/half_report.h"
#include "cli/model.h"
#include "cli/report_files.h"
#include "cli/terminal.h"
#include "cli/typed_model.h"
#include "generated/version.h"
#include "report/lint_map.h"
#include "report/report_file.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kHelp =
    R"(Proves for every operation that can overflow, divide by zero or leave its domain that it does
not, for any inputs and parameters in their ranges; or says where it can, from which input or
weight, with values that make it fail and a range that makes it safe.

Ranges are a file {"inputs": {"name or glob": [low, high]}, "parameters": {...}}; null is the
range of the element type. Parameters whose values are in the file keep them unless named.

Examples:
  assay lint model.onnx
  assay lint model.onnx --ranges ranges.json --json
  assay lint model.onnx --tensors smash --numbers interval
  assay lint model.onnx --as f16)";

struct Options {
  std::string model, ranges, data;
  std::vector<std::string> reports;
  std::string tensors = "partition", numbers = "affine";
  std::string format;
  double search = 1;
  bool all = false;
};

Json number(double x) {
  if (std::isfinite(x)) return x;
  return std::isnan(x) ? "NaN" : x > 0 ? "Infinity" : "-Infinity";
}

Json to_json(const Interval& range) {
  if (!range.has_number()) return nullptr;
  return Json::array({number(range.low), number(range.high)});
}

Json to_json(const Tensor& tensor) {
  constexpr std::int64_t kMostShown = 1000;
  Json result = {{"dtype", short_name(tensor.type())}, {"shape", tensor.shape()}};
  if (tensor.size() > kMostShown) return result;
  Json values = Json::array();
  for (double x : tensor.reals()) values.push_back(number(x));
  result["values"] = std::move(values);
  return result;
}

Json to_json(const LintFix& fix) {
  Json result = Json::object();
  if (!fix.rewrite.empty()) {
    result["rewrite"] = fix.rewrite;
    result["text"] = fix.text;
  }
  if (!fix.root.empty()) {
    result["root"] = fix.root;
    result["range"] = to_json(fix.range);
  }
  return result;
}

Json to_json(const LintNode& node) {
  Json result = {{"name", node.name},
                 {"op", node.op},
                 {"verdict", to_text(node.verdict)},
                 {"check", node.check},
                 {"range", to_json(node.range)},
                 {"why", node.why},
                 {"cause", node.cause}};
  if (node.more_causes > 0) result["more_causes"] = node.more_causes;
  if (!node.path.empty()) {
    Json& path = result["path"] = Json::array();
    for (const LintStep& step : node.path)
      path.push_back({{"name", step.name}, {"op", step.op}, {"range", to_json(step.range)}});
  }
  if (node.witness) {
    Json values = Json::object();
    for (const auto& [name, tensor] : node.witness->values) values[name] = to_json(tensor);
    result["witness"] = {{"result", node.witness->result}, {"inputs", std::move(values)}};
  }
  if (node.fix) result["fix"] = to_json(*node.fix);
  return result;
}

void fill_document(const Options& options, const LintResult& result, Json& document) {
  document["model"] = options.model;
  document["tensors"] = options.tensors;
  document["numbers"] = options.numbers;
  document["checked"] = result.checked;
  document["warnings"] = result.warnings;
  Json& nodes = document["nodes"] = Json::array();
  for (const LintNode& node : result.nodes) nodes.push_back(to_json(node));
  Json& unknown = document["unknown"] = Json::array();
  for (const auto& [name, reason] : result.unknown)
    unknown.push_back({{"name", name}, {"reason", reason}});
  document["unused_ranges"] = result.unused;
  Json& found = document["found_ranges"] = Json::array();
  for (const FoundRange& one : result.found)
    found.push_back({{"name", one.name}, {"range", to_json(one.range)}, {"by", one.by}});
  if (result.half) document["as"] = to_json(*result.half);
}

std::string shown(const LintNode& node, const Style& style) {
  const std::string verdict(to_text(node.verdict));
  switch (node.verdict) {
    case LintVerdict::safe:
      return style.good(verdict);
    case LintVerdict::warning:
      return style.warn(verdict);
    default:
      return style.bad(verdict);
  }
}

// The way of the range: its beginning, and what is next to the operation.
std::string shown_way(const LintNode& node) {
  constexpr std::size_t kShown = 5;
  std::string text;
  if (!node.cause.empty())
    text += fmt::format("    from {}{}\n", fmt::join(node.cause, ", "),
                        node.more_causes == 0 ? "" : fmt::format(" and {} more", node.more_causes));
  for (std::size_t i = 0; i < node.path.size(); ++i) {
    const std::size_t left = node.path.size() - i;
    if (i > 0 && left > kShown) continue;
    if (i > 0 && left == kShown && i > 1) text += fmt::format("      … {} more\n", i - 1);
    const LintStep& step = node.path[i];
    text += fmt::format("      {}{} in {}\n", step.name,
                        step.op.empty() ? "" : fmt::format(" ({})", step.op), to_text(step.range));
  }
  return text;
}

std::string to_page(const Options& options, const LintResult& result) {
  const Style style;
  std::string page = fmt::format(
      "{}: {} checked, {}\n", style.bold(options.model),
      counted(static_cast<std::int64_t>(result.checked), "operation"),
      result.warnings == 0
          ? style.good("all proved safe")
          : style.bad(counted(static_cast<std::int64_t>(result.warnings), "unsafe one")));
  for (const LintNode& node : result.nodes) {
    const bool fine = node.verdict == LintVerdict::safe || node.verdict == LintVerdict::unreachable;
    if (fine && !options.all) continue;
    page += fmt::format("\n  {} {} ({})\n    {}\n", shown(node, style), style.bold(node.name),
                        node.op, node.why);
    page += shown_way(node);
    if (node.witness) page += fmt::format("    seen: {}\n", node.witness->result);
    if (node.fix && !node.fix->rewrite.empty())
      page += fmt::format("    safe: {}\n", style.bold(node.fix->text));
    if (node.fix && !node.fix->root.empty())
      page += fmt::format("    safe with {} in {}\n", node.fix->root, to_text(node.fix->range));
  }
  if (!result.unknown.empty()) {
    page += "\nunknown\n";
    Table table;
    for (const auto& [name, reason] : result.unknown) table.row({name, reason});
    page += table.text();
  }
  for (const FoundRange& one : result.found)
    page += fmt::format("\n{} {} is taken to lie in {}, as {} prepares it\n", style.warn("note:"),
                        one.name, to_text(one.range), one.by);
  for (const std::string& name : result.unused)
    page +=
        fmt::format("\n{} no value is called '{}', which has a range\n", style.warn("note:"), name);
  if (result.half) page += to_page(*result.half);
  return page;
}

Result<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{"unreadable", fmt::format("{}: cannot be read", path), path};
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Result<Ranges> read_ranges(const Options& options) {
  Ranges ranges;
  if (!options.ranges.empty()) {
    const Result<std::string> text = read_text(options.ranges);
    if (!text) return text.error();
    Result<Ranges> parsed = parse_ranges(*text, options.ranges);
    if (!parsed) return parsed.error();
    ranges = *std::move(parsed);
  }
  if (options.data.empty()) return ranges;
  const auto values = read_values(options.data);
  if (!values) return values.error();
  for (const auto& [name, tensor] : *values) {
    if (tensor.size() == 0 || tensor.type() == ElementType::string) continue;
    GivenRange& range = ranges.data[name];
    for (double x : tensor.reals()) {
      if (std::isnan(x)) continue;
      range.low = std::min(range.low.value_or(x), x);
      range.high = std::max(range.high.value_or(x), x);
    }
  }
  return ranges;
}

// The document that --json prints, and what only a page shows.
Result<void> write_lint_reports(const Options& options, const Model& model,
                                const LintResult& result,
                                std::chrono::steady_clock::time_point start) {
  if (options.reports.empty()) return {};
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  Json document = {{"assay", kVersion}, {"command", "lint"}, {"seconds", passed.count()}};
  add_lint_map({model, options.model, result}, document);
  for (const std::string& path : options.reports)
    if (Result<void> written = write_report(document, path); !written) return written;
  return {};
}

Result<ExitCode> run(const Options& options, Report& report) {
  const auto start = std::chrono::steady_clock::now();
  if (Result<void> named = check_reports(options.reports); !named) return named.error();
  const auto read = std::make_shared<const Result<TypedModel>>(read_typed_model(options.model));
  report.keep(read);
  const Result<TypedModel>& model = *read;
  if (!model) return model.error();
  const Result<Ranges> ranges = read_ranges(options);
  if (!ranges) return ranges.error();
  LintOptions lint_options;
  lint_options.setting.tensors = options.tensors == "smash"    ? TensorMode::smash
                                 : options.tensors == "expand" ? TensorMode::expand
                                                               : TensorMode::partition;
  lint_options.setting.numbers =
      options.numbers == "interval" ? NumberMode::interval : NumberMode::affine;
  lint_options.keep_ranges = !options.reports.empty();
  lint_options.as = format_named(options.format);
  lint_options.seed = report.common().seed;
  lint_options.search_seconds = options.search;
  lint_options.types = model->types;
  const Result<LintResult> result = lint(model->model, *ranges, lint_options);
  if (!result) return result.error();
  if (Result<void> written = write_lint_reports(options, model->model, *result, start); !written)
    return written.error();
  if (report.json())
    fill_document(options, *result, report.document);
  else
    report.text = to_page(options, *result);
  return result->warnings == 0 ? ExitCode::clean : ExitCode::found;
}

Action configure(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("MODEL", options->model, "The model")->required()->type_name("");
  app.add_option("--ranges", options->ranges, "Ranges of inputs and parameters")
      ->type_name("R.json");
  app.add_option("--data", options->data, "Recorded inputs, whose ranges are taken")
      ->type_name("F.npz");
  app.add_option("--tensors", options->tensors, "How tensors are abstracted (default: partition)")
      ->check(CLI::IsMember({"smash", "expand", "partition"}).description(""))
      ->type_name("smash|expand|partition");
  app.add_option("--numbers", options->numbers, "How numbers are (default: affine)")
      ->check(CLI::IsMember({"interval", "affine"}).description(""))
      ->type_name("interval|affine");
  add_format_option(app, options->format);
  app.add_option("--report", options->reports,
                 "Write a page with a map of ranges, SARIF, or JUnit; may be given again")
      ->allow_extra_args(false)
      ->type_name("F.html|F.sarif|F.xml");
  app.add_option("--search", options->search,
                 "Most seconds to look for values that fail and ranges that are safe (default: 1)")
      ->check(CLI::Validator(CLI::NonNegativeNumber).description(""))
      ->type_name("SECONDS");
  app.add_flag("--all", options->all, "List the operations that are safe, too");
  return [options](Report& report) { return run(*options, report); };
}

}  // namespace

Command lint_command() {
  return {"lint", "Prove that no operation of a model can overflow or leave its domain", kHelp,
          configure};
}

}  // namespace assay

#include "cli/run_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/half_report.h"
#include "cli/terminal.h"
#include "cli/value_report.h"
#include "graph/names.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

// Between which numbers any honest evaluation in the model's own formats lies.
void add_bounds(const Value& bounded, Json& json) {
  if (!bounded.is_tensor() || !is_real(bounded.type())) return;
  const std::vector<double> values = bounded.tensor().reals();
  double widest = 0;
  Json lower = Json::array(), upper = Json::array();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double error = bounded.errors() ? (*bounded.errors())[i] : 0;
    widest = std::max(widest, error);
    lower.push_back(number_json(values[i] - error));
    upper.push_back(number_json(values[i] + error));
  }
  json["largest_error"] = number_json(widest);
  if (bounded.tensor().size() > kMostInline) return;
  json["lower"] = std::move(lower);
  json["upper"] = std::move(upper);
}

Json nonfinite_json(const NonFiniteOrigin& origin) {
  return {{"node", origin.node},
          {"op", origin.op},
          {"kind", origin.made.nan > 0 ? "NaN" : "Infinity"},
          {"count", origin.made.nan + origin.made.infinite},
          {"nan", origin.made.nan},
          {"infinite", origin.made.infinite},
          {"inputs_finite", origin.inputs_finite},
          {"reaches_output", origin.reaches_output},
          {"first_step", origin.steps},
          {"times", origin.times}};
}

std::string nonfinite_text(const NonFiniteOrigin& origin, bool first, const Style& style) {
  std::string made;
  if (origin.made.nan > 0) made = fmt::format("{} NaN", with_separators(origin.made.nan));
  if (origin.made.infinite > 0) {
    made += fmt::format("{}{} infinite", made.empty() ? "" : " and ",
                        with_separators(origin.made.infinite));
  }
  const std::string line =
      fmt::format("{} ({}) makes {} out of {} inputs{}{}{}", origin.node, origin.op, made,
                  origin.inputs_finite ? "finite" : "infinite",
                  origin.times > 1 ? fmt::format(", {} times", with_separators(origin.times)) : "",
                  origin.steps.empty() ? "" : fmt::format(", first at {}", origin.steps),
                  origin.reaches_output ? "; it reaches an output" : "; it reaches no output");
  return fmt::format("  {}\n", first ? style.bad("first: " + line) : line);
}

std::string outputs_text(const RunRequest& request, const Graph& graph, const RunOutcome& outcome,
                         const Style& style) {
  Table table;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    std::vector<std::string> cells = value_cells(outcome.outputs[i], style);
    cells.insert(cells.begin(), printable(graph.outputs[i].name));
    Json bounds = Json::object();
    if (request.bounds) add_bounds(outcome.bounded[i], bounds);
    if (bounds.contains("largest_error")) {
      cells.push_back(fmt::format("± {}", bounds["largest_error"].dump()));
    }
    table.row(std::move(cells));
  }
  return table.text();
}

std::string hidden_text(const RunOutcome& outcome) {
  const auto count = static_cast<std::int64_t>(outcome.hidden_reports.size());
  Table table;
  for (const auto& [name, json] : outcome.hidden_reports) {
    table.row({printable(name), json.contains("dtype") ? json["dtype"].get<std::string>() : "",
               json.contains("shape") ? json["shape"].dump() : ""});
  }
  return fmt::format("{}\n{}", counted(count, "hidden value"), table.text());
}

}  // namespace

void fill_document(const RunRequest& request, const Graph& graph, const RunOutcome& outcome,
                   Json& document) {
  document["model"] = request.model;
  document["backend"] = request.backend;
  document["evaluation_seconds"] = outcome.seconds;
  Json& outputs = document["outputs"] = Json::object();
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    Json& json = outputs[graph.outputs[i].name] = to_json(outcome.outputs[i]);
    if (request.bounds) add_bounds(outcome.bounded[i], json);
    if (!request.outputs.empty()) json["file"] = request.outputs;
  }
  if (request.hidden) {
    Json& hidden = document["hidden"] = Json::object();
    for (const auto& [name, json] : outcome.hidden_reports) {
      Json& place = hidden[name] = json;
      if (!request.outputs.empty()) place["file"] = request.outputs;
    }
  }
  Json& nonfinite = document["nonfinite"] = Json::array();
  for (const NonFiniteOrigin& origin : outcome.nonfinite) {
    nonfinite.push_back(nonfinite_json(origin));
  }
  if (outcome.half) document["as"] = to_json(*outcome.half);
  if (!request.judge.empty()) {
    Json& judged = document["judged"] = Json::array();
    for (const Judgement& one : outcome.judgements) {
      judged.push_back({{"node", one.layer},
                        {"op", one.op},
                        {"output", one.output},
                        {"verdict", one.inside ? "precision" : "outside"},
                        {"difference", number_json(one.difference)},
                        {"excess", number_json(one.excess)},
                        {"detail", one.detail}});
    }
  }
  Json& unknown = document["unknown"] = Json::array();
  for (const auto& [layer, node] : outcome.unknown) {
    unknown.push_back({{"node", layer}, {"op", node.op}, {"domain", node.domain}});
  }
}

std::string to_page(const RunRequest& request, const Evaluator& evaluator,
                    const RunOutcome& outcome) {
  const Style style;
  const auto nodes = static_cast<std::int64_t>(evaluator.plan().nodes.size());
  std::string page = fmt::format("{}  {}, {:.3g} ms\n", style.bold(request.model),
                                 counted(nodes, "node"), 1000 * outcome.seconds);
  page += outputs_text(request, evaluator.model().graph, outcome, style);
  if (request.hidden) page += hidden_text(outcome);
  if (!outcome.nonfinite.empty()) page += style.bold("not finite\n");
  for (const NonFiniteOrigin& origin : outcome.nonfinite) {
    page += nonfinite_text(origin, &origin == &outcome.nonfinite.front(), style);
  }
  if (!outcome.judgements.empty()) {
    page += fmt::format("{} recorded values judged by the bounds of their nodes\n",
                        outcome.judgements.size());
  }
  for (const Judgement& one : outcome.judgements) {
    if (one.inside) continue;
    page += fmt::format("  {} ({}): {}\n", style.bad(one.layer), one.op, one.detail);
  }
  if (!outcome.unknown.empty()) page += style.bold("unknown to the catalogue\n");
  for (const auto& [layer, node] : outcome.unknown) {
    page += fmt::format("  {} ({}{}{})\n", layer, printable(node.domain),
                        node.domain.empty() ? "" : ".", printable(node.op));
  }
  if (outcome.half) page += to_page(*outcome.half);
  if (!request.outputs.empty()) page += fmt::format("written to {}\n", request.outputs);
  return page;
}

}  // namespace assay

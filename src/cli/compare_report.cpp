#include "cli/compare_report.h"

#include <fmt/format.h>

#include "cli/terminal.h"
#include "cli/value_report.h"
#include "graph/names.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

const Judgement* judgement_of(const Comparison& comparison, const std::string& backend,
                              const std::string& node) {
  for (const BackendRecord& record : comparison.backends) {
    if (record.name != backend) continue;
    for (const Judgement& one : record.judged) {
      if (one.layer == node && !one.inside) return &one;
    }
  }
  return nullptr;
}

// The verdict of a layer in a pair: of whichever side is outside its bound.
const Judgement* suspect_in(const Comparison& comparison, const PairMap& map,
                            const std::string& node) {
  const Judgement* second = judgement_of(comparison, map.b, node);
  return second ? second : judgement_of(comparison, map.a, node);
}

Json pair_json(const PairRow& pair) {
  return {
      {"a", pair.a},
      {"b", pair.b},
      {"metric", pair.metric},
      {"threshold", pair.threshold},
      {"triggering", pair.triggering},
      {"instances", pair.instances},
      {"max", number_json(pair.largest)},
      {"inconsistent", pair.inconsistent()},
      {"pattern", pair.pattern},
      {"tolerance", {{"rtol", number_json(pair.relative)}, {"atol", number_json(pair.absolute)}}}};
}

Json map_json(const ComparisonReport& report, const PairMap& map) {
  Json layers = Json::array();
  for (const LayerRate& layer : map.layers) {
    const Judgement* suspect = suspect_in(report.comparison, map, layer.name);
    Json json = {{"name", layer.name},
                 {"class", layer.op},
                 {"delta", number_json(layer.delta)},
                 {"rate", number_json(layer.rate)},
                 {"highlighted", layer.highlighted},
                 {"verdict", !suspect           ? "precision"
                             : suspect->variant ? "difference"
                                                : "defect"}};
    if (suspect && suspect->variant) json["variant"] = suspect->variant->name;
    layers.push_back(std::move(json));
  }
  return {{"pair", {map.a, map.b}}, {"instance", report.comparison.piece}, {"layers", layers}};
}

Json finding_json(const ComparisonFinding& finding, std::size_t number, const std::string& test,
                  const Reproduction& script) {
  Json json = {{"id", fmt::format("F{}", number + 1)},
               {"kind", finding.kind},
               {"backend", finding.backend},
               {"op", finding.op},
               {"node", finding.node},
               {"verdict", to_text(finding.verdict)},
               {"detail", finding.detail},
               {"test", test},
               {"repro", script.script.string()}};
  if (!script.note.empty()) json["repro_note"] = script.note;
  if (finding.variant) json["variant"] = finding.variant->name;
  if (finding.signal) json["signal"] = finding.signal;
  return json;
}

std::string finding_text(const ComparisonFinding& finding, const Style& style) {
  std::string where = finding.node.empty()
                          ? ""
                          : fmt::format(" at {}{}", printable(finding.node),
                                        finding.op.empty() ? "" : " (" + finding.op + ")");
  std::string why = finding.variant ? fmt::format(", explained by {}", finding.variant->name) : "";
  return fmt::format("  {} {}: {}{}{}\n    {}\n", style.bold(finding.backend),
                     finding.verdict == Verdict::defect ? style.bad(to_text(finding.verdict))
                                                        : style.warn(to_text(finding.verdict)),
                     finding.kind, where, why, finding.detail);
}

std::string script_text(const Reproduction& script) {
  if (!script.script.empty()) {
    return fmt::format("    script: {} (executed: shows it)\n", script.script.string());
  }
  return script.note.empty() ? "" : fmt::format("    no script: {}\n", script.note);
}

std::string pairs_text(const Comparison& comparison, const Style& style) {
  Table table;
  for (const PairRow& pair : comparison.pairs) {
    table.row({fmt::format("{} | {}", pair.a, pair.b), pair.metric,
               fmt::format("{} of {}", pair.triggering, pair.instances),
               fmt::format("largest {:.3g}", pair.largest),
               fmt::format("needs rtol {:.2g} or atol {:.2g}", pair.relative, pair.absolute),
               pair.inconsistent() ? style.bad("inconsistent") : style.good("consistent")});
  }
  return table.text();
}

}  // namespace

void fill_document(const ComparisonReport& report, Json& document) {
  const Comparison& comparison = report.comparison;
  Json& backends = document["backends"] = Json::array();
  for (const BackendRecord& record : comparison.backends) {
    backends.push_back({{"name", record.name},
                        {"version", record.version},
                        {"answered", record.alive},
                        {"judged", record.judged.size()}});
  }
  Json& crashes = document["crashes"] = Json::array();
  for (const ComparisonFinding& finding : comparison.findings) {
    if (finding.kind == "crash" || finding.kind == "hang" || finding.kind == "memory") {
      crashes.push_back(
          {{"backend", finding.backend}, {"kind", finding.kind}, {"detail", finding.detail}});
    }
  }
  Json& outputs = document["outputs"] = Json::object();
  for (std::size_t i = 0; i < report.graph.outputs.size() && !comparison.spreads.empty(); ++i) {
    const Spread& spread = comparison.spreads[comparison.piece][i];
    outputs[report.graph.outputs[i].name] = {{"rtol", number_json(spread.relative)},
                                             {"atol", number_json(spread.absolute)}};
  }
  Json& pairs = document["pairs"] = Json::array();
  for (const PairRow& pair : comparison.pairs) pairs.push_back(pair_json(pair));
  document["unique"] = comparison.unique();
  Json& maps = document["localisation"] = Json::array();
  for (const PairMap& map : report.maps) maps.push_back(map_json(report, map));
  Json& findings = document["findings"] = Json::array();
  for (std::size_t i = 0; i < comparison.findings.size(); ++i) {
    findings.push_back(finding_json(comparison.findings[i], i, report.tests[i], report.scripts[i]));
  }
}

std::string to_page(const ComparisonReport& report) {
  const Style style;
  const Comparison& comparison = report.comparison;
  std::string page = pairs_text(comparison, style);
  for (std::size_t i = 0; i < report.graph.outputs.size() && !comparison.spreads.empty(); ++i) {
    const Spread& spread = comparison.spreads[comparison.piece][i];
    page += fmt::format("rounding justifies rtol {:.2g}, atol {:.2g} for output {}\n",
                        spread.relative, spread.absolute, printable(report.graph.outputs[i].name));
  }
  for (const BackendRecord& record : comparison.backends) {
    if (record.judged.empty()) continue;
    const auto inside = std::count_if(record.judged.begin(), record.judged.end(),
                                      [](const Judgement& one) { return one.inside; });
    page += fmt::format("{} {}: {} of {} inner values inside the bounds of their nodes\n",
                        record.name, record.version, inside, record.judged.size());
  }
  if (comparison.findings.empty()) return page + style.good("nothing found") + "\n";
  page += style.bold("findings") + "\n";
  for (std::size_t i = 0; i < comparison.findings.size(); ++i) {
    page += finding_text(comparison.findings[i], style);
    if (!report.tests[i].empty()) page += fmt::format("    test: {}\n", report.tests[i]);
    page += script_text(report.scripts[i]);
  }
  return page;
}

}  // namespace assay

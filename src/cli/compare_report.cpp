#include "cli/compare_report.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/terminal.h"
#include "cli/value_report.h"
#include "graph/names.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

const Judgement* judgement_of(const Comparison& comparison, const std::string& backend,
                              const std::string& node) {
  const Judgement* worst = nullptr;
  for (const BackendRecord& record : comparison.backends) {
    if (record.name != backend) continue;
    for (const Judgement& one : record.judged) {
      if (one.layer == node && (!worst || one.verdict > worst->verdict)) worst = &one;
    }
  }
  return worst;
}

// The verdict of a layer in a pair: of whichever side is farther from its bound.
const Judgement* suspect_in(const Comparison& comparison, const PairMap& map,
                            const std::string& node) {
  const Judgement* first = judgement_of(comparison, map.a, node);
  const Judgement* second = judgement_of(comparison, map.b, node);
  if (!first || !second) return first ? first : second;
  return first->verdict > second->verdict ? first : second;
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
      {"output", pair.output},
      {"ties", pair.ties},
      {"turned", pair.turned},
      {"tolerance", {{"rtol", number_json(pair.relative)}, {"atol", number_json(pair.absolute)}}}};
}

// The optimiser's finding whose segment holds a layer, on either side of a pair.
const ComparisonFinding* optimised_in(const Comparison& comparison, const PairMap& map,
                                      const std::string& layer) {
  for (const ComparisonFinding& finding : comparison.findings) {
    const bool here = finding.backend == map.a || finding.backend == map.b;
    if (!here || finding.passes.empty() || !finding.suspect) continue;
    for (const Node& node : finding.suspect->model.graph.nodes) {
      if (display_name(node, 0) == layer) return &finding;
    }
  }
  return nullptr;
}

// What a pair took differently because rounding let it is a tie, though each side is right.
Verdict verdict_of(const Comparison& comparison, const PairMap& map, const std::string& layer,
                   const Judgement* suspect) {
  const Verdict own = suspect ? suspect->verdict : Verdict::precision;
  const bool turned =
      std::any_of(comparison.pairs.begin(), comparison.pairs.end(), [&](const PairRow& pair) {
        return pair.a == map.a && pair.b == map.b &&
               std::find(pair.turned.begin(), pair.turned.end(), layer) != pair.turned.end();
      });
  return turned ? std::max(own, Verdict::tie) : own;
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
                 {"verdict", to_text(verdict_of(report.comparison, map, layer.name, suspect))}};
    if (suspect && suspect->variant) json["variant"] = suspect->variant->name;
    if (suspect && !suspect->profile.empty()) json["profile"] = suspect->profile;
    if (const auto* finding = optimised_in(report.comparison, map, layer.name)) {
      json["verdict"] = to_text(finding->verdict);
      json["pass"] = finding->passes.front();
    }
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
  if (finding.suspect && finding.suspect->model.graph.nodes.size() > 1) {
    Json& nodes = json["nodes"] = Json::array();  // of the segment
    const std::vector<Node>& segment = finding.suspect->model.graph.nodes;
    for (std::size_t i = 0; i < segment.size(); ++i) nodes.push_back(display_name(segment[i], i));
  }
  if (finding.variant) json["variant"] = finding.variant->name;
  if (!finding.profile.empty()) json["profile"] = finding.profile;
  if (finding.signal) json["signal"] = finding.signal;
  if (!finding.passes.empty()) {
    json["pass"] = finding.passes.front();
    json["passes"] = finding.passes;
    json["passes_cure"] = finding.any_pass ? "any" : "all";
  }
  return json;
}

std::string finding_text(const ComparisonFinding& finding, const Style& style) {
  std::string where = finding.node.empty()
                          ? ""
                          : fmt::format(" at {}{}", printable(finding.node),
                                        finding.op.empty() ? "" : " (" + finding.op + ")");
  const std::string_view reason = finding.variant ? finding.variant->name : finding.profile;
  std::string why = reason.empty() ? "" : fmt::format(", explained by {}", reason);
  if (!finding.passes.empty()) {
    why += fmt::format(", cured without {}",
                       fmt::join(finding.passes, finding.any_pass ? " or " : " and "));
  }
  return fmt::format("  {} {}: {}{}{}\n    {}\n", style.bold(finding.backend),
                     finding.verdict == Verdict::defect ? style.bad(to_text(finding.verdict))
                                                        : style.warn(to_text(finding.verdict)),
                     finding.kind, where, why, finding.detail);
}

Reproduction script_of(const ComparisonReport& report, std::size_t finding) {
  return finding < report.scripts.size() ? report.scripts[finding] : Reproduction{};
}

std::string script_text(const Reproduction& script) {
  if (!script.script.empty()) {
    return fmt::format("    script: {} (executed: shows it)\n", script.script.string());
  }
  return script.note.empty() ? "" : fmt::format("    no script: {}\n", script.note);
}

// " (2 tie, 1 suspicious)": what is inside the bounds and yet worth a look.
std::string notable(const VerdictCounts& counts) {
  std::string text;
  for (const auto& [verdict, count] : counts) {
    if (verdict != Verdict::suspicious && verdict != Verdict::tie) continue;
    text += fmt::format("{}{} {}", text.empty() ? " (" : ", ", count, to_text(verdict));
  }
  return text.empty() ? text : text + ")";
}

std::string pairs_text(const Comparison& comparison, const Style& style) {
  Table table;
  for (const PairRow& pair : comparison.pairs) {
    table.row({fmt::format("{} | {}", pair.a, pair.b), pair.metric,
               fmt::format("{} of {}", pair.triggering, pair.instances),
               fmt::format("largest {:.3g}", pair.largest),
               fmt::format("needs rtol {:.2g} or atol {:.2g}", pair.relative, pair.absolute),
               pair.ties == 0 ? "" : fmt::format("{} ties", pair.ties),
               !pair.turned.empty()  ? style.warn("tie at " + printable(pair.turned.front()))
               : pair.inconsistent() ? style.bad("inconsistent")
                                     : style.good("consistent")});
  }
  return table.text();
}

}  // namespace

Json verdicts_json(const VerdictCounts& counts) {
  Json json = Json::object();
  for (const auto& [verdict, count] : counts) json[std::string(to_text(verdict))] = count;
  return json;
}

void fill_document(const ComparisonReport& report, Json& document) {
  const Comparison& comparison = report.comparison;
  Json& backends = document["backends"] = Json::array();
  for (const BackendRecord& record : comparison.backends) {
    backends.push_back({{"name", record.name},
                        {"version", record.version},
                        {"answered", record.alive},
                        {"judged", record.judged.size()},
                        {"verdicts", verdicts_json(count_verdicts(record.judged))}});
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
    findings.push_back(
        finding_json(comparison.findings[i], i, report.tests[i], script_of(report, i)));
  }
}

std::string to_page(const ComparisonReport& report) {
  const Style style;
  const Comparison& comparison = report.comparison;
  std::string page = pairs_text(comparison, style);
  const auto answered = std::count_if(comparison.backends.begin(), comparison.backends.end(),
                                      [](const BackendRecord& record) { return record.alive; });
  if (answered == 0) page += "no backend is left to compare: none has answered\n";
  for (std::size_t i = 0; i < report.graph.outputs.size() && !comparison.spreads.empty(); ++i) {
    const Spread& spread = comparison.spreads[comparison.piece][i];
    page += fmt::format("rounding justifies rtol {:.2g}, atol {:.2g} for output {}\n",
                        spread.relative, spread.absolute, printable(report.graph.outputs[i].name));
  }
  for (const BackendRecord& record : comparison.backends) {
    if (record.judged.empty()) continue;
    const auto inside = std::count_if(record.judged.begin(), record.judged.end(),
                                      [](const Judgement& one) { return one.inside; });
    page += fmt::format("{} {}: {} of {} inner values inside the bounds of their nodes{}\n",
                        record.name, record.version, inside, record.judged.size(),
                        notable(count_verdicts(record.judged)));
  }
  if (comparison.findings.empty()) return page + style.good("nothing found") + "\n";
  page += style.bold("findings") + "\n";
  for (std::size_t i = 0; i < comparison.findings.size(); ++i) {
    page += finding_text(comparison.findings[i], style);
    if (!report.tests[i].empty()) page += fmt::format("    test: {}\n", report.tests[i]);
    page += script_text(script_of(report, i));
  }
  return page;
}

Json to_json(const ReleaseSearch& search, const ReleaseRange& range) {
  const auto name = [](const std::optional<std::string>& release) {
    return release ? Json(*release) : Json(nullptr);
  };
  Json tried = Json::array();
  for (const ReleaseTrial& trial : search.tried) {
    tried.push_back({{"release", trial.release},
                     {"verdict", to_text(trial.verdict)},
                     {"detail", trial.detail}});
  }
  return {{"backend", range.backend.text},
          {"first_bad", name(search.first_bad)},
          {"first_good", name(search.first_good)},
          {"earlier", search.earlier},
          {"tried", tried},
          {"note", search.note}};
}

std::string to_page(const ReleaseSearch& search, const ReleaseRange& range) {
  std::string page;
  for (const ReleaseTrial& trial : search.tried) {
    page +=
        fmt::format("  {} {}: {}{}\n", range.backend.text, trial.release, to_text(trial.verdict),
                    trial.detail.empty() ? "" : ", " + printable(trial.detail));
  }
  page += fmt::format("{}: first bad release {}{}, first good release after it {}\n",
                      range.backend.text, search.first_bad.value_or("none"),
                      search.earlier ? " or earlier" : "", search.first_good.value_or("none"));
  return search.note.empty() ? page : page + "  " + search.note + "\n";
}

}  // namespace assay

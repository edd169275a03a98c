#include "report/lint_map.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "graph/names.h"
#include "graph/origin.h"
#include "numeric/retype.h"
#include "report/comparison_map.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kAnalysis = "lint";

bool is_unsafe_in_report(const LintNode& node) {
  return node.verdict == LintVerdict::warning || node.verdict == LintVerdict::error;
}

Verdict verdict_of(const LintNode& node) {
  return node.verdict == LintVerdict::error ? Verdict::defect : Verdict::suspicious;
}

std::string detail_of(const LintNode& node) {
  std::string text = node.why;
  if (node.witness) text += "; seen: " + node.witness->result;
  if (node.fix && !node.fix->rewrite.empty()) text += "; safe: " + node.fix->text;
  if (node.fix && !node.fix->root.empty())
    text += fmt::format("; safe with {} in {}", node.fix->root, to_text(node.fix->range));
  return text;
}

Comparison to_comparison(const LintedModel& linted) {
  std::map<std::string, std::size_t> places;  // of the first node of each operation
  const std::vector<Node>& nodes = linted.model.graph.nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) places.emplace(operation_name(nodes[i], i), i);
  Comparison result;
  BackendRecord record{kAnalysis, kAnalysis, ""};
  for (const LintNode& node : linted.result.nodes) {
    if (!is_unsafe_in_report(node)) continue;
    const auto place = places.find(node.name);
    const Node* shown = place == places.end() ? nullptr : &nodes[place->second];
    const std::string name = shown ? display_name(*shown, place->second) : node.name;
    result.findings.push_back(
        {node.check, kAnalysis, name, node.op, detail_of(node), verdict_of(node)});
    if (!shown || shown->outputs.empty()) continue;
    Judgement judgement;
    judgement.layer = name;
    judgement.op = node.op;
    judgement.output = shown->outputs[0];
    judgement.detail = node.why;
    judgement.verdict = verdict_of(node);
    judgement.excess = 2;  // outside of what is safe
    record.judged.push_back(std::move(judgement));
  }
  result.backends.push_back(std::move(record));
  return result;
}

Json findings_json(const Comparison& comparison) {
  Json result = Json::array();
  for (const ComparisonFinding& finding : comparison.findings)
    result.push_back({{"id", fmt::format("lint-{}", result.size() + 1)},
                      {"kind", finding.kind},
                      {"rule", finding.kind},
                      {"backend", finding.backend},
                      {"op", finding.op},
                      {"node", printable(finding.node)},
                      {"verdict", to_text(finding.verdict)},
                      {"detail", finding.detail}});
  return result;
}

// The two ends of a range are all that is known of a value.
void add_ranges(const LintResult& result, Json& map) {
  for (Json& node : map["nodes"])
    for (Json& output : node["outputs"]) {
      const auto found = result.ranges.find(output["name"].get<std::string>());
      if (found == result.ranges.end() || !found->second.range.has_number()) continue;
      const Interval& range = found->second.range;
      output["type"] = found->second.type;
      output["values"] = Json::array({{{"backend", 0},
                                       {"min", number_json(range.low)},
                                       {"max", number_json(range.high)},
                                       {"nan", 0},
                                       {"inf", 0}}});
    }
}

}  // namespace

void add_lint_map(const LintedModel& linted, Json& document) {
  const Comparison comparison = to_comparison(linted);
  const ShownValues nothing(1);
  add_comparison_map({linted.model, linted.file, comparison, nothing}, document);
  add_ranges(linted.result, document["map"]);
  document["backends"] = Json::array({{{"name", kAnalysis},
                                       {"version", "ranges of all values"},
                                       {"answered", true},
                                       {"judged", linted.result.checked}}});
  document["outputs"] = Json::object();
  document["pairs"] = Json::array();
  document["unique"] = 0;
  document["findings"] = findings_json(comparison);
}

}  // namespace assay

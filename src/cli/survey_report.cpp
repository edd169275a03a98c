#include "cli/survey_report.h"

#include <fmt/format.h>

#include "cli/compare_report.h"
#include "cli/terminal.h"
#include "cli/value_report.h"
#include "graph/names.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

Json finding_json(const ComparisonFinding& finding) {
  Json json = {{"kind", finding.kind},      {"backend", finding.backend},
               {"node", finding.node},      {"op", finding.op},
               {"detail", finding.detail},  {"verdict", to_text(finding.verdict)},
               {"alarm", is_alarm(finding)}};
  if (finding.variant) json["variant"] = finding.variant->name;
  if (!finding.profile.empty()) json["profile"] = finding.profile;
  return json;
}

Json total_json(const SurveyTotal& total) {
  return {{"name", total.name},         {"version", total.version},
          {"models", total.models},     {"answered", total.answered},
          {"judged", total.judged},     {"verdicts", verdicts_json(total.verdicts)},
          {"findings", total.findings}, {"inconsistent", total.inconsistent}};
}

}  // namespace

void SurveyReport::add(const SurveyCase& one) {
  Json json = {{"id", one.id}, {"seconds", one.seconds}};
  if (!one.comparison) {
    found_ = true;
    json["error"] = one.comparison.error().message;
    lines_ += fmt::format("{}: not compared: {}\n", one.id, one.comparison.error().message);
    cases_.push_back(std::move(json));
    return;
  }
  add_to_totals(*one.comparison, totals_);
  Json& findings = json["findings"] = Json::array();
  for (const ComparisonFinding& finding : one.comparison->findings) {
    findings.push_back(finding_json(finding));
    if (!is_alarm(finding)) continue;
    found_ = true;
    lines_ += fmt::format("{}: {} {} at {}: {}\n", one.id, finding.backend,
                          to_text(finding.verdict), printable(finding.node), finding.detail);
  }
  Json& pairs = json["inconsistent"] = Json::array();
  for (const PairRow& pair : one.comparison->pairs) {
    if (!pair.inconsistent()) continue;
    found_ = true;
    pairs.push_back({{"a", pair.a},
                     {"b", pair.b},
                     {"metric", pair.metric},
                     {"max", number_json(pair.largest)}});
  }
  cases_.push_back(std::move(json));
}

void SurveyReport::finish(Json& document, std::string& text) {
  document["tests"] = std::move(cases_);
  Json& totals = document["backends"] = Json::array();
  Table table;
  for (const SurveyTotal& total : totals_) {
    totals.push_back(total_json(total));
    table.row({fmt::format("{} {}", total.name, total.version),
               fmt::format("{} of {} answered", total.answered, total.models),
               fmt::format("{} values judged", total.judged),
               fmt::format("{} findings", total.findings),
               fmt::format("{} inconsistent", total.inconsistent)});
  }
  text = lines_ + table.text();
}

}  // namespace assay

#include "cli/files_report.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/terminal.h"
#include "cli/value_report.h"
#include "compare/comparison.h"
#include "graph/names.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostShown = 10;  // rows of a list for people

std::vector<std::string> names_of(const Trace& trace, const std::vector<std::size_t>& weights) {
  std::vector<std::string> names;
  for (const std::size_t weight : weights) names.push_back(trace.weights[weight].name);
  return names;
}

Json weight_json(const FileComparison& found, const WeightPair& pair) {
  Json json = {{"a", names_of(found.a, pair.a)},
               {"b", names_of(found.b, pair.b)},
               {"relation", to_text(pair.relation)},
               {"used", pair.used},
               {"difference", number_json(pair.difference)}};
  if (!pair.arrangement.plain()) json["arrangement"] = to_text(pair.arrangement);
  if (pair.rounded_to != ElementType::undefined) {
    json["rounded_to"] = standard_name(pair.rounded_to);
  }
  return json;
}

Json weights_json(const FileComparison& found) {
  Json list = Json::array();
  for (const WeightPair& pair : found.weights.pairs) list.push_back(weight_json(found, pair));
  return {{"matched", found.weights.count(true)},
          {"differing", found.weights.count(false)},
          {"only_a", names_of(found.a, found.weights.only_a)},
          {"only_b", names_of(found.b, found.weights.only_b)},
          {"unread",
           {{"matched", found.weights.count(true, false)},
            {"differing", found.weights.count(false, false)}}},
          {"coverage", found.weights.coverage},
          {"list", list}};
}

Json value_json(const InnerValue& value) {
  return {{"value", value.name}, {"node", value.layer}, {"op", value.op}};
}

Json first_json(const FileComparison& found) {
  if (!found.first) return nullptr;
  const ValuePair& pair = *found.first;
  return {{"a", value_json(found.a.values[pair.a])},
          {"b", value_json(found.b.values[pair.b])},
          {"matched_by", to_text(pair.how)},
          {"arrangement", to_text(pair.arrangement)},
          {"difference", number_json(pair.difference)},
          {"allowed", number_json(pair.room)}};
}

Json pair_json(const FilesReport& report, const OutputPair& pair) {
  return {
      {"a", report.a},
      {"b", report.b},
      {"metric", "bound"},
      {"threshold", 1},
      {"triggering", pair.agrees() ? 0 : 1},
      {"instances", 1},
      {"max", number_json(pair.excess)},
      {"inconsistent", !pair.agrees()},
      {"pattern", pair.agrees() ? Json{1, 0} : Json{0, 1}},
      {"tolerance", {{"rtol", number_json(pair.relative)}, {"atol", number_json(pair.difference)}}},
      {"output", {pair.a, pair.b}},
      {"arrangement", to_text(pair.arrangement)}};
}

// A file that its backend did not run.
struct Refusal {
  std::string kind, backend, file;
  const Answer* answer;
};

std::vector<Refusal> refusals(const FilesReport& report) {
  std::vector<Refusal> found;
  const auto add = [&](const Trace& trace, const std::string& backend, const std::string& file) {
    const Answer& answer = trace.refusal;
    if (answer.ok()) return;
    found.push_back({std::string(finding_kind(answer.outcome)), backend, file, &answer});
  };
  add(report.found.a, report.backend_a, report.a);
  add(report.found.b, report.backend_b, report.b);
  return found;
}

const OutputPair* worst_output(const FileComparison& found) {
  const auto worst = std::max_element(
      found.outputs.begin(), found.outputs.end(),
      [](const OutputPair& x, const OutputPair& y) { return x.excess < y.excess; });
  return worst == found.outputs.end() ? nullptr : &*worst;
}

std::string first_text(const FileComparison& found) {
  if (!found.first) {
    const OutputPair* worst = worst_output(found);
    return worst ? fmt::format("output {} | {}: {}", printable(worst->a), printable(worst->b),
                               worst->detail)
                 : "the files have no output in common";
  }
  const InnerValue &a = found.a.values[found.first->a], &b = found.b.values[found.first->b];
  return fmt::format(
      "{} ({}) | {} ({}), matched by {}: they differ by {:.3g}, rounding allows {:.3g}",
      printable(a.name), a.op, printable(b.name), b.op, to_text(found.first->how),
      found.first->difference, found.first->room);
}

// The node that reads weights which differ, though these data do not show it.
Json silent_json(const FilesReport& report, std::size_t id) {
  const FileComparison& found = report.found;
  const auto& [value, weight] = found.silent.front();
  const InnerValue& reader = found.a.values[found.values.pairs[value].a];
  const WeightPair& pair = found.weights.pairs[weight];
  return {
      {"id", fmt::format("F{}", id)},
      {"kind", "inconsistency"},
      {"backend", report.backend_b},
      {"op", reader.op},
      {"node", reader.layer},
      {"verdict", "difference"},
      {"detail", fmt::format("weights {} | {} differ by up to {:.3g}, which these data do not show",
                             printable(names_of(found.a, pair.a).front()),
                             printable(names_of(found.b, pair.b).front()), pair.difference)},
      {"blame", to_text(Blame::weights)},
      {"test", ""}};
}

Json findings_json(const FilesReport& report) {
  Json findings = Json::array();
  const FileComparison& found = report.found;
  for (const Refusal& one : refusals(report)) {
    findings.push_back({{"id", fmt::format("F{}", findings.size() + 1)},
                        {"kind", one.kind},
                        {"backend", one.backend},
                        {"op", one.answer->op},
                        {"node", one.answer->node},
                        {"verdict", one.kind == "unsupported" ? "unsupported" : "defect"},
                        {"detail", fmt::format("{}: {}", one.file, one.answer->message)},
                        {"test", ""}});
  }
  if (!found.ran() || found.clean()) return findings;
  if (found.agrees()) return {silent_json(report, 1)};
  const InnerValue* first = found.first ? &found.a.values[found.first->a] : nullptr;
  const OutputPair* worst = worst_output(found);
  findings.push_back({{"id", "F1"},
                      {"kind", "inconsistency"},
                      {"backend", report.backend_b},
                      {"op", first ? first->op : ""},
                      {"node", first ? first->layer : (worst ? worst->a : "")},
                      {"verdict", found.blame == Blame::weights ? "difference" : "defect"},
                      {"detail", first_text(found)},
                      {"blame", to_text(found.blame)},
                      {"test", ""}});
  return findings;
}

std::string weights_text(const FileComparison& found) {
  const WeightMatch& weights = found.weights;
  std::string text =
      fmt::format("weights: {} matched, {} differing", weights.count(true), weights.count(false));
  text +=
      fmt::format(", {} only in A, {} only in B\n", weights.only_a.size(), weights.only_b.size());
  std::size_t shown = 0;
  for (const WeightPair& pair : weights.pairs) {
    if (pair.equal() || !pair.used || ++shown > kMostShown) continue;
    const std::string why = pair.relation == WeightRelation::rounded
                                ? fmt::format("rounded to {}", standard_name(pair.rounded_to))
                                : fmt::format("differ by up to {:.3g}", pair.difference);
    text +=
        fmt::format("  {} | {}: {}\n",
                    printable(fmt::format("{}", fmt::join(names_of(found.a, pair.a), " + "))),
                    printable(fmt::format("{}", fmt::join(names_of(found.b, pair.b), " + "))), why);
  }
  if (shown > kMostShown) text += fmt::format("  and {} more\n", shown - kMostShown);
  if (const std::size_t unread = weights.count(false, false); unread > 0) {
    text += fmt::format("  {} that these data do not reach differ\n",
                        counted(static_cast<std::int64_t>(unread), "weight"));
  }
  return text;
}

std::string verdict_text(const FileComparison& found, const Style& style) {
  const bool folded = found.weights.count(false) > 0 || !found.weights.only_a.empty() ||
                      !found.weights.only_b.empty();
  if (!found.silent.empty() && found.agrees()) {
    return fmt::format("{}: the outputs agree, but these data do not show it\n",
                       style.bad("the weights differ"));
  }
  if (found.agrees()) {
    return style.good(folded ? "one function: the weights differ, but the outputs do not (weights "
                               "were folded into others, or do not matter for these data)"
                             : "one network: weights and outputs are the same") +
           "\n";
  }
  return fmt::format("{}: {} are to blame\nfirst difference: {}\n", style.bad("the outputs differ"),
                     to_text(found.blame), first_text(found));
}

}  // namespace

void fill_document(const FilesReport& report, Json& document) {
  const FileComparison& found = report.found;
  document["backends"] = {{{"name", report.backend_a}, {"answered", found.a.refusal.ok()}},
                          {{"name", report.backend_b}, {"answered", found.b.refusal.ok()}}};
  Json& crashes = document["crashes"] = Json::array();
  for (const Refusal& one : refusals(report)) {
    if (!one.answer->fatal()) continue;
    crashes.push_back(
        {{"backend", one.backend}, {"kind", one.kind}, {"detail", one.answer->message}});
  }
  Json& pairs = document["pairs"] = Json::array();
  for (const OutputPair& pair : found.outputs) pairs.push_back(pair_json(report, pair));
  document["unique"] = found.ran() && !found.clean() ? 1 : 0;
  document["localisation"] = Json::array();
  document["findings"] = findings_json(report);
  if (!found.ran()) return;
  document["files"] = {{"a", report.a},
                       {"b", report.b},
                       {"same_network", found.one_network()},
                       {"same_outputs", found.agrees()},
                       {"weights", weights_json(found)},
                       {"values",
                        {{"total_a", found.values.total_a},
                         {"total_b", found.values.total_b},
                         {"matched", found.values.pairs.size()},
                         {"agreeing", found.values.agreeing()},
                         {"first_difference", first_json(found)}}},
                       {"blame", to_text(found.blame)}};
}

std::string to_page(const FilesReport& report) {
  const Style style;
  const FileComparison& found = report.found;
  std::string page = fmt::format("A {}  {}\nB {}  {}\n", style.bold(report.a), report.backend_a,
                                 style.bold(report.b), report.backend_b);
  for (const Refusal& one : refusals(report)) {
    page += fmt::format("{} {}: {} {}\n", style.bold(one.backend), style.bad(one.kind), one.file,
                        one.answer->message);
  }
  if (!found.ran()) return page;
  page += weights_text(found);
  page += fmt::format("inner values: {} of {} in A and {} in B matched, {} of them agree\n",
                      found.values.pairs.size(), found.values.total_a, found.values.total_b,
                      found.values.agreeing());
  for (const OutputPair& pair : found.outputs) {
    page += fmt::format("output {} | {}: largest difference {:.3g}, {}\n", printable(pair.a),
                        printable(pair.b), pair.difference,
                        pair.agrees() ? style.good("explained by rounding")
                                      : style.bad("not explained by rounding"));
  }
  return page + verdict_text(found, style);
}

}  // namespace assay

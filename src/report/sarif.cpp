#include "report/sarif.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "graph/names.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

std::string text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string level_of(const std::string& verdict) {
  if (verdict == "defect" || verdict == "optimiser") return "error";
  return verdict == "unsupported" || verdict == "precision" ? "note" : "warning";
}

// As RFC 3986 has it: what a path may hold beside letters stays, the rest is %XX.
std::string to_uri(const std::string& path) {
  static constexpr std::string_view kPlain = "-._~/!$&'()*+,;=@";
  std::string uri;
  for (const char c : path) {
    const bool letter = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    uri += letter || kPlain.find(c) != std::string_view::npos
               ? std::string(1, c)
               : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return path.starts_with('/') ? "file://" + uri : uri;
}

std::string described(const std::string& kind, const std::string& verdict) {
  return fmt::format("{}, judged {}", kind, verdict);
}

class SarifWriter {
 public:
  explicit SarifWriter(const Json& document)
      : uri_(to_uri(document.contains("model") ? text_in(document.at("model"), "file") : "")) {}

  void add_finding(const Json& finding) {
    const std::string kind = text_in(finding, "kind"), verdict = text_in(finding, "verdict");
    const std::string node = printable(text_in(finding, "node")), op = text_in(finding, "op");
    std::string message = fmt::format("{}: {}", text_in(finding, "backend"), kind);
    if (!node.empty()) message += fmt::format(" at {}{}", node, op.empty() ? "" : " (" + op + ")");
    if (finding.contains("variant")) {
      message += fmt::format(", explained by {}", text_in(finding, "variant"));
    }
    const std::string detail = text_in(finding, "detail");
    if (!detail.empty()) message += ": " + one_line(detail);
    const bool named = finding.contains("rule");  // a check that has a name of its own
    Json result = result_of(named ? text_in(finding, "rule") : fmt::format("{}/{}", kind, verdict),
                            named ? kind : described(kind, verdict), level_of(verdict), message);
    if (!node.empty()) {
      result["locations"][0]["logicalLocations"] = {
          {{"name", node}, {"fullyQualifiedName", node}, {"kind", "object"}}};
    }
    result["partialFingerprints"] = {
        {"finding/v1", fmt::format("{}:{}:{}:{}", kind, text_in(finding, "backend"), op, node)}};
    result["properties"] = {{"id", text_in(finding, "id")},
                            {"backend", text_in(finding, "backend")},
                            {"verdict", verdict},
                            {"test", text_in(finding, "test")}};
    results_.push_back(std::move(result));
  }

  void add_pair(const Json& pair) {
    if (!pair.at("inconsistent").get<bool>()) return;
    const std::string a = text_in(pair, "a"), b = text_in(pair, "b"),
                      metric = text_in(pair, "metric");
    Json result =
        result_of("pair/" + metric, "two backends disagree, by the distance " + metric, "warning",
                  fmt::format("{} and {} disagree on {} of {} instances", a, b,
                              pair.at("triggering").dump(), pair.at("instances").dump()));
    result["partialFingerprints"] = {{"finding/v1", fmt::format("pair:{}:{}:{}", metric, a, b)}};
    results_.push_back(std::move(result));
  }

  Json write(const Json& document) const {
    const Json driver = {
        {"name", "Assay"}, {"version", text_in(document, "assay")}, {"rules", rules_}};
    return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
            {"version", "2.1.0"},
            {"runs",
             {{{"tool", {{"driver", driver}}},
               {"columnKind", "utf16CodeUnits"},
               {"results", results_}}}}};
  }

 private:
  std::size_t rule_index(const std::string& id, const std::string& what, const std::string& level) {
    for (std::size_t i = 0; i < rules_.size(); ++i) {
      if (rules_[i].at("id") == id) return i;
    }
    rules_.push_back({{"id", id},
                      {"shortDescription", {{"text", what}}},
                      {"defaultConfiguration", {{"level", level}}}});
    return rules_.size() - 1;
  }

  Json result_of(const std::string& rule, const std::string& what, const std::string& level,
                 const std::string& message) {
    const Json location = {{"physicalLocation", {{"artifactLocation", {{"uri", uri_}}}}}};
    return {{"ruleId", rule},
            {"ruleIndex", rule_index(rule, what, level)},
            {"level", level},
            {"message", {{"text", message}}},
            {"locations", Json::array({location})}};
  }

  std::string uri_;
  Json rules_ = Json::array(), results_ = Json::array();
};

}  // namespace

Json to_sarif(const Json& document) {
  SarifWriter writer(document);
  for (const Json& finding : document.at("findings")) writer.add_finding(finding);
  for (const Json& pair : document.at("pairs")) writer.add_pair(pair);
  return writer.write(document);
}

}  // namespace assay

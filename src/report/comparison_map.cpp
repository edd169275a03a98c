#include "report/comparison_map.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "graph/names.h"
#include "report/attribute_text.h"
#include "report/difference_image.h"
#include "report/numbers.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kLargestSide = 64, kSmallestSide = 8;
constexpr double kImageBudget = 1.5e6;      // cells of all images of nodes inside their bounds
constexpr std::size_t kLongestText = 3000;  // of a stack trace; its end is the user's own code

// Long texts that many nodes share, each once.
class Texts {
 public:
  std::size_t add(std::string_view text) {
    if (text.size() > kLongestText) text.remove_prefix(text.size() - kLongestText);
    const auto [found, added] = places_.emplace(to_utf8(text), places_.size());
    if (added) list_.push_back(found->first);
    return found->second;
  }
  const Json& list() const { return list_; }

 private:
  std::map<std::string, std::size_t> places_;
  Json list_ = Json::array();
};

class MapBuilder {
 public:
  MapBuilder(const Model& model, const Comparison& comparison) : graph_(model.graph) {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      positions_.emplace(display_name(graph_.nodes[i], i), i);
      for (const std::string& output : graph_.nodes[i].outputs) {
        if (!output.empty()) producers_.emplace(output, i);
      }
    }
    for (const NamedTensor& one : graph_.initializers) parameters_.emplace(one.name, &one.tensor);
    for (const BackendRecord& record : comparison.backends) add_backend(record);
    for (const PairRow& pair : comparison.pairs) {
      if (pair.metric == "bound") pairs_.emplace_back(pair.a, pair.b);
    }
    set_side();
  }

  // The node that a finding is about: by its name, else as the producer of an output.
  Json place_of(const std::string& name) const {
    for (const auto* places : {&positions_, &producers_}) {
      const auto found = places->find(name);
      if (found != places->end()) return found->second;
    }
    return nullptr;
  }

  Json build(const Comparison& comparison, const Json& localisation) {
    Json nodes = Json::array();
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) nodes.push_back(node_json(i));
    add_rates(localisation, nodes);
    Json findings = Json::array();
    for (const ComparisonFinding& finding : comparison.findings) {
      findings.push_back(place_of(finding.node));
    }
    Json pairs = Json::array();
    for (const auto& [a, b] : pairs_) pairs.push_back({a, b});
    return {{"pairs", pairs}, {"nodes", nodes}, {"findings", findings}, {"texts", texts_.list()}};
  }

 private:
  void add_backend(const BackendRecord& record) {
    backends_.push_back(record.name);
    for (const auto* list : {&record.watched.hidden, &record.watched.values}) {
      for (const auto& [name, value] : *list) values_[record.name].emplace(name, &value);
    }
    for (const Judgement& one : record.judged) judgements_[record.name].emplace(one.output, &one);
  }

  const Value* value_of(const std::string& backend, const std::string& name) const {
    const auto values = values_.find(backend);
    if (values == values_.end()) return nullptr;
    const auto found = values->second.find(name);
    return found == values->second.end() ? nullptr : found->second;
  }

  const Judgement* judgement_of(const std::string& backend, const std::string& name) const {
    const auto judgements = judgements_.find(backend);
    if (judgements == judgements_.end()) return nullptr;
    const auto found = judgements->second.find(name);
    return found == judgements->second.end() ? nullptr : found->second;
  }

  bool outside(const std::string& name) const {
    return std::any_of(backends_.begin(), backends_.end(), [&](const std::string& backend) {
      const Judgement* one = judgement_of(backend, name);
      return one && !one->inside;
    });
  }

  void set_side() {
    const double images =
        static_cast<double>(producers_.size() * std::max<std::size_t>(1, pairs_.size()));
    const auto side = static_cast<std::int64_t>(std::sqrt(kImageBudget / std::max(1.0, images)));
    side_ = std::clamp(side, kSmallestSide, kLargestSide);
  }

  Json input_json(const std::string& name) const {
    Json json = {{"name", printable(name)}};
    if (const auto from = producers_.find(name); from != producers_.end()) {
      json["node"] = from->second;
    } else if (const auto given = parameters_.find(name); given != parameters_.end()) {
      json["parameter"] =
          fmt::format("{}{}", short_name(given->second->type()), to_text(given->second->shape()));
    }
    return json;
  }

  Json node_json(std::size_t position) {
    const Node& node = graph_.nodes[position];
    Json json = {{"name", printable(display_name(node, position))}, {"op", printable(node.op)}};
    if (!node.domain.empty()) json["domain"] = printable(node.domain);
    Json& inputs = json["inputs"] = Json::array();
    for (const std::string& input : node.inputs) inputs.push_back(input_json(input));
    Json attributes = Json::array();
    for (const Attribute& one : node.attributes) {
      attributes.push_back({printable(one.name), attribute_text(one.value)});
    }
    if (!attributes.empty()) json["attributes"] = attributes;
    Json origin = Json::array();
    for (const auto& [key, text] : node.metadata) {
      origin.push_back({printable(key), texts_.add(text)});
    }
    if (!node.doc.empty()) origin.push_back({"doc", texts_.add(node.doc)});
    if (!origin.empty()) json["origin"] = origin;
    Json& outputs = json["outputs"] = Json::array();
    for (const std::string& output : node.outputs) outputs.push_back(output_json(output));
    return json;
  }

  Json output_json(const std::string& name) const {
    Json json = {{"name", printable(name)}};
    Json values = Json::array(), judged = Json::array(), images = Json::array();
    for (std::size_t i = 0; i < backends_.size(); ++i) {
      const Value* value = value_of(backends_[i], name);
      if (value && !json.contains("type")) json["type"] = to_text(value->value_type());
      if (value) values.push_back(value_json(i, *value));
      const Judgement* judgement = judgement_of(backends_[i], name);
      if (judgement) judged.push_back(judgement_json(i, *judgement));
    }
    const std::int64_t side = outside(name) ? kLargestSide : side_;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const Value *a = value_of(pairs_[i].first, name), *b = value_of(pairs_[i].second, name);
      if (!a || !b || !a->is_tensor() || !b->is_tensor()) continue;
      const auto image = difference_image(a->tensor(), b->tensor(), side);
      if (image) images.push_back(image_json(i, *image));
    }
    if (!values.empty()) json["values"] = values;
    if (!judged.empty()) json["judged"] = judged;
    if (!images.empty()) json["images"] = images;
    return json;
  }

  static Json value_json(std::size_t backend, const Value& value) {
    Json json = {{"backend", backend}};
    if (!value.is_tensor()) return json;
    json["count"] = value.tensor().size();
    if (!has_statistics(value.type())) return json;
    const Statistics s = statistics_of(value.tensor());
    if (s.nan + s.infinite < s.count) {
      json["min"] = s.smallest;
      json["max"] = s.largest;
      json["mean"] = number_json(s.mean);
    }
    json["nan"] = s.nan;
    json["inf"] = s.infinite;
    return json;
  }

  static Json judgement_json(std::size_t backend, const Judgement& one) {
    Json json = {{"backend", backend},
                 {"verdict", to_text(one.verdict)},
                 {"difference", number_json(one.difference)},
                 {"excess", number_json(one.excess)}};
    if (!one.detail.empty()) json["detail"] = to_utf8(one.detail);
    if (one.variant) json["variant"] = one.variant->name;
    return json;
  }

  static Json image_json(std::size_t pair, const DifferenceImage& image) {
    return {
        {"pair", pair},           {"rows", image.rows},   {"columns", image.columns},
        {"height", image.height}, {"width", image.width}, {"largest", number_json(image.largest)},
        {"at", image.at},         {"cells", image.cells}};
  }

  // The published rates, under the number of their pair.
  void add_rates(const Json& localisation, Json& nodes) const {
    for (const Json& map : localisation) {
      const std::pair<std::string, std::string> names{map.at("pair").at(0), map.at("pair").at(1)};
      const auto pair = std::find(pairs_.begin(), pairs_.end(), names);
      if (pair == pairs_.end()) continue;
      for (const Json& layer : map.at("layers")) {
        const auto place = positions_.find(layer.at("name").get<std::string>());
        if (place == positions_.end()) continue;
        Json rate = {{"pair", pair - pairs_.begin()},
                     {"delta", layer.at("delta")},
                     {"rate", layer.at("rate")},
                     {"highlighted", layer.at("highlighted")}};
        if (layer.contains("pass")) rate["pass"] = layer.at("pass");
        nodes[place->second]["rates"].push_back(std::move(rate));
      }
    }
  }

  const Graph& graph_;
  std::map<std::string, std::size_t> positions_, producers_;  // of nodes, by name and by output
  std::map<std::string, const Tensor*> parameters_;
  std::vector<std::string> backends_;
  std::vector<std::pair<std::string, std::string>> pairs_;
  std::map<std::string, std::map<std::string, const Value*>> values_;          // by backend
  std::map<std::string, std::map<std::string, const Judgement*>> judgements_;  // by backend, output
  std::int64_t side_ = kLargestSide;
  Texts texts_;
};

Json types_json(const std::vector<NamedType>& values) {
  Json list = Json::array();
  for (const NamedType& one : values)
    list.push_back({printable(one.name), printable(to_text(one.type))});
  return list;
}

Json model_json(const Model& model, const std::string& file) {
  std::int64_t parameters = 0;
  for (const NamedTensor& one : model.graph.initializers) parameters += one.tensor.size();
  Json opsets = Json::object();
  for (const auto& [domain, version] : model.opsets) {
    opsets[domain.empty() ? "ai.onnx" : printable(domain)] = version;
  }
  return {{"file", to_utf8(file)},
          {"name", printable(model.graph.name)},
          {"producer", printable(model.producer + " " + model.producer_version)},
          {"opsets", opsets},
          {"nodes", model.graph.nodes.size()},
          {"parameters", parameters},
          {"inputs", types_json(model.graph.inputs)},
          {"outputs", types_json(model.graph.outputs)}};
}

}  // namespace

void add_comparison_map(const Model& model, const std::string& file, const Comparison& comparison,
                        Json& document) {
  document["schema"] = kReportSchema;
  document["model"] = model_json(model, file);
  MapBuilder builder(model, comparison);
  document["map"] = builder.build(comparison, document.value("localisation", Json::array()));
}

}  // namespace assay

#include "validate/opsets.h"

#include <algorithm>

#include <fmt/format.h>

#include "graph/name_index.h"
#include "graph/names.h"
#include "graph/order.h"
#include "layers/keras/layers.h"
#include "ops/check.h"
#include "ops/schema.h"

namespace assay {
namespace {

using Opsets = std::map<std::string, std::int64_t>;

std::string domain_text(std::string_view domain) {
  return domain.empty() ? "ai.onnx" : printable(domain);
}

// The newest version of the domain's operator set; 0 for a domain that is not the standard's.
int newest_version(std::string_view domain) {
  if (domain == "ai.onnx.preview") domain = "";  // numbered alike
  int newest = 0;
  for (const Schema& schema : schemas()) {
    if (schema.domain == domain) newest = std::max(newest, schema.since_version);
  }
  return newest;
}

class ImportChecker {
 public:
  explicit ImportChecker(const Model& model) : model_(model) {}

  std::vector<Finding> check() {
    check_opsets(model_.opsets);
    check_nodes(model_.graph.nodes, model_.opsets, "", 0);
    for (const Function& function : model_.functions) {
      right_.clear();
      check_nodes(function.nodes, function.opsets, printable(function.name) + "/", 0);
    }
    return std::move(findings_);
  }

 private:
  void check_opsets(const Opsets& opsets) {
    for (const auto& [domain, version] : opsets) {
      const int newest = newest_version(domain);
      if (newest == 0 || (version >= 1 && version <= newest)) continue;
      findings_.push_back({"", "", "Graph Error", "Graph.opset-version",
                           fmt::format("1 to {}", newest), fmt::format("{}", version), kRankBadness,
                           fmt::format("operator set {} of {} is not known; the newest is {}",
                                       version, domain_text(domain), newest)});
    }
  }

  // The layer that is looked at: most are right, so its path is made only when it is needed.
  struct Layer {
    const std::string& path;
    const Node& node;
    std::size_t position;
    std::string name() const { return path + printable(display_name(node, position)); }
  };

  void check_nodes(const std::vector<Node>& nodes, const Opsets& opsets, const std::string& path,
                   int depth) {
    if (depth > kMaxNesting) return;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const Layer layer{path, nodes[i], i};
      check_node(opsets, layer);
      for_each_subgraph(nodes[i], [&](const std::string& attribute, const Graph& graph) {
        check_nodes(graph.nodes, opsets, layer.name() + "/" + printable(attribute) + "/",
                    depth + 1);
      });
    }
  }

  void check_node(const Opsets& opsets, const Layer& layer) {
    const Node& node = layer.node;
    const auto opset = opsets.find(node.domain);
    if (opset == opsets.end()) return;  // Graph.opset
    NameIndex& right = right_[opset->first];
    if (right.contains(node.op)) return;
    const auto version = static_cast<int>(std::clamp<std::int64_t>(opset->second, 0, kNoLimit));
    if (is_right(node, version)) {
      right.add(node.op);
      return;
    }
    if (node.domain == keras::kDomain) return add_layer(layer, version);
    const Schema* schema = find_schema(node.domain, node.op, version);
    const Schema* newest = find_schema(node.domain, node.op, kNoLimit);
    if (!newest || model_.find_function(node.domain, node.op, node.overload)) return;
    add(layer, schema ? schema->since_version : 0, version);
  }

  static bool is_right(const Node& node, int version) {
    if (node.domain == keras::kDomain)
      return find_operator(node.domain, node.op, version).entry != nullptr;
    const Schema* schema = find_schema(node.domain, node.op, version);
    return schema && !schema->deprecated;
  }

  // A layer is Keras' own, or nobody here knows what it does: Python code is never executed.
  void add_layer(const Layer& layer, int version) {
    const Node& node = layer.node;
    const std::string name = printable(node.op);
    std::string message;
    if (node.op == "Lambda" || node.op == "TFOpLambda") {
      message = name +
                " holds Python code, which is never executed: write what it does with other layers";
    } else if (keras::find_layer(node.op)) {
      message = fmt::format("Keras {} has no layer {}", version, name);
    } else {
      message = fmt::format(
          "{} is no layer that is known: replace a layer of your own by layers that Keras has",
          name);
    }
    findings_.push_back({layer.name(), node.op, "Graph Error", "Keras.unknown-layer",
                         "a layer of Keras", name, kRankBadness, std::move(message)});
  }

  void add(const Layer& layer, int ended, int version) {
    const Node& node = layer.node;
    if (ended > 0) {
      findings_.push_back({layer.name(), node.op, "Graph Error", "Graph.operator-version",
                           fmt::format("an operator set below {}", ended),
                           fmt::format("{}", version), kRankBadness,
                           fmt::format("{} is no longer an operator since operator set {} of {}",
                                       node.op, ended, domain_text(node.domain))});
      return;
    }
    const Schema* first = find_first(node);
    findings_.push_back(
        {layer.name(), node.op, "Graph Error", "Graph.operator-version",
         fmt::format("operator set {} or newer", first->since_version), fmt::format("{}", version),
         kRankBadness,
         fmt::format("{} is an operator only since operator set {} of {}; the model imports {}",
                     node.op, first->since_version, domain_text(node.domain), version)});
  }

  static const Schema* find_first(const Node& node) {
    const auto first = std::find_if(schemas().begin(), schemas().end(), [&](const Schema& s) {
      return s.domain == node.domain && s.name == node.op;
    });
    return &*first;
  }

  const Model& model_;
  // Operators with which nothing is wrong, by domain: a graph has few of them, over and over.
  std::map<std::string_view, NameIndex> right_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> check_imports(const Model& model) { return ImportChecker(model).check(); }

}  // namespace assay

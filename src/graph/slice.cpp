#include "graph/slice.h"

#include <algorithm>
#include <set>

#include "graph/order.h"

namespace assay {
namespace {

using Names = std::set<std::string>;
constexpr std::size_t kLongestName = 60;

// All that a node reads, in its subgraphs too.
std::vector<std::string> reads_of(const Node& node) {
  std::vector<std::string> names;
  for (const std::string& name : node.inputs) {
    if (!name.empty()) names.push_back(name);
  }
  for_each_subgraph(node, [&](const std::string&, const Graph& body) {
    for (std::string& name : captured_names(body)) names.push_back(std::move(name));
  });
  return names;
}

// Names whose values are the same for all inputs of the model.
Names fixed_names(const Graph& graph) {
  Names fixed, given;
  for (const NamedType& input : graph.inputs) given.insert(input.name);
  for (const NamedTensor& one : graph.initializers) fixed.insert(one.name);
  for (const auto& [name, tensor] : graph.sparse_initializers) fixed.insert(name);
  for (const std::string& name : given) fixed.erase(name);
  for (const Node& node : graph.nodes) {
    const std::vector<std::string> reads = reads_of(node);
    const bool all = std::all_of(reads.begin(), reads.end(),
                                 [&](const std::string& name) { return fixed.contains(name); });
    if (all) fixed.insert(node.outputs.begin(), node.outputs.end());
  }
  return fixed;
}

std::string name_of(const std::vector<Node>& nodes) {
  std::string name;
  for (const Node& node : nodes) {
    if (name.size() + node.op.size() > kLongestName) break;
    name += (name.empty() ? "" : "_") + node.op;
  }
  return name.empty() ? "slice" : name;
}

class Cutter {
 public:
  Cutter(const Model& model, const std::vector<std::size_t>& nodes, const ValuesByName& values)
      : model_(model), values_(values), chosen_(nodes.begin(), nodes.end()) {}

  std::optional<Model> cut() {
    cut_.ir_version = model_.ir_version;
    cut_.opsets = model_.opsets;
    cut_.functions = model_.functions;
    for (const std::size_t at : chosen_) {
      cut_.graph.nodes.push_back(model_.graph.nodes[at]);
      for (const std::string& name : model_.graph.nodes[at].outputs) made_.insert(name);
    }
    cut_.graph.name = name_of(cut_.graph.nodes);
    fixed_ = fixed_names(model_.graph);
    for (const Node& node : cut_.graph.nodes) {
      for (const std::string& name : reads_of(node)) {
        if (!made_.contains(name) && seen_.insert(name).second && !add_source(name)) return {};
      }
    }
    if (!add_outputs()) return {};
    return std::move(cut_);
  }

 private:
  bool add_source(const std::string& name) {
    const Graph& graph = model_.graph;
    for (const NamedTensor& one : graph.initializers) {
      if (one.name != name) continue;
      cut_.graph.initializers.push_back(one);
      return true;
    }
    for (const auto& one : graph.sparse_initializers) {
      if (one.first != name) continue;
      cut_.graph.sparse_initializers.push_back(one);
      return true;
    }
    const auto value = values_.find(name);
    if (value == values_.end() || !value->second.present()) return false;
    if (fixed_.contains(name) && value->second.is_tensor()) {
      cut_.graph.initializers.push_back({name, value->second.tensor()});
      return true;
    }
    cut_.graph.inputs.push_back({name, type_of(name, graph.inputs)});
    return true;
  }

  bool add_outputs() {
    Names wanted;
    for (const NamedType& output : model_.graph.outputs) wanted.insert(output.name);
    for (std::size_t at = 0; at < model_.graph.nodes.size(); ++at) {
      if (chosen_.contains(at)) continue;
      for (std::string& name : reads_of(model_.graph.nodes[at])) wanted.insert(std::move(name));
    }
    for (const Node& node : cut_.graph.nodes) {
      for (const std::string& name : node.outputs) {
        if (!wanted.contains(name)) continue;
        cut_.graph.outputs.push_back({name, type_of(name, model_.graph.outputs)});
        if (cut_.graph.outputs.back().type.kind == ValueType::Kind::unknown) return false;
      }
    }
    return !cut_.graph.outputs.empty();
  }

  // As the model declares it, else as the value is.
  ValueType type_of(const std::string& name, const std::vector<NamedType>& declared) const {
    for (const NamedType& one : declared) {
      if (one.name == name) return one.type;
    }
    const auto value = values_.find(name);
    return value == values_.end() ? ValueType() : value->second.value_type();
  }

  const Model& model_;
  const ValuesByName& values_;
  std::set<std::size_t> chosen_;
  Model cut_;
  Names made_, fixed_, seen_;
};

}  // namespace

std::optional<Model> slice(const Model& model, const std::vector<std::size_t>& nodes,
                           const ValuesByName& values) {
  return Cutter(model, nodes, values).cut();
}

}  // namespace assay

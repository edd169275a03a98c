#include "validate/validate.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include <fmt/format.h>

#include "graph/names.h"
#include "graph/order.h"
#include "validate/opsets.h"
#include "validate/validate_typed.h"

namespace assay {
namespace {

using Order = std::size_t;
constexpr Order kLast = std::numeric_limits<Order>::max();

// Where in the order of execution each layer stands, so that findings of several kinds line up.
class Positions {
 public:
  explicit Positions(const Model& model) {
    walk(model.graph, "", 0);
    for (const Function& function : model.functions) {
      walk(function.nodes, printable(function.name) + "/", 0);
    }
  }

  const Node* node(const std::string& layer) const {
    const auto found = places_.find(layer);
    return found == places_.end() ? nullptr : found->second.node;
  }

  // A layer that is no node (a graph, an input, a node in a function's call) stands with the
  // innermost node around it.
  Order at(std::string layer) const {
    while (true) {
      if (const auto found = places_.find(layer); found != places_.end())
        return found->second.order;
      const auto slash = layer.rfind('/');
      if (slash == std::string::npos) return 0;
      layer.resize(slash);
    }
  }

 private:
  struct Place {
    Order order;
    const Node* node;
  };

  void walk(const Graph& graph, const std::string& path, int depth) {
    walk(graph.nodes, path, depth);
  }

  void walk(const std::vector<Node>& nodes, const std::string& path, int depth) {
    if (depth > kMaxNesting) return;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::string layer = path + printable(display_name(nodes[i], i));
      places_.try_emplace(layer, Place{++count_, &nodes[i]});
      for_each_subgraph(nodes[i], [&](const std::string& attribute, const Graph& graph) {
        walk(graph, layer + "/" + printable(attribute) + "/", depth + 1);
      });
    }
  }

  std::unordered_map<std::string, Place> places_;
  Order count_ = 0;
};

struct Ordered {
  Order order;
  Finding finding;
};

Finding to_finding(const NodeRemarks& remarks, const Violation& violation) {
  return {remarks.layer,      remarks.op,      violation.kind,    violation.rule,
          violation.expected, violation.found, violation.badness, violation.message};
}

void add_structure(const std::vector<StructureFinding>& structure, const Positions& positions,
                   std::vector<Ordered>& findings) {
  for (const StructureFinding& finding : structure) {
    const Node* node = positions.node(finding.node);
    const bool at_end = finding.rule == "Graph.output" && finding.node.empty();
    findings.push_back({at_end ? kLast : positions.at(finding.node),
                        {finding.node, node ? node->op : "", "Graph Error", finding.rule, "", "",
                         kRankBadness, finding.message}});
  }
}

void note_open(const ModelTypes& types, ValidationResult& result) {
  for (const NodeRemarks& remarks : types.remarks) {
    for (const Undecided& open : remarks.undecided) {
      result.undecided.push_back({remarks.layer, open.rule, open.needs});
    }
    if (remarks.unknown) result.unknown.push_back({remarks.layer, remarks.op, remarks.domain});
  }
}

bool objects(const ModelTypes& types) {
  return std::any_of(types.remarks.begin(), types.remarks.end(),
                     [](const NodeRemarks& remarks) { return !remarks.violations.empty(); });
}

}  // namespace

ValidationResult validate(const Model& model) {
  TypeOptions options;
  options.keep_values = false;
  return validate(model, infer_types(model, options));
}

ValidationResult validate(const Model& model, const ModelTypes& types, Structure known) {
  ValidationResult result;
  note_open(types, result);
  std::vector<Finding> imports = check_imports(model);
  std::vector<StructureFinding> structure;
  if (known == Structure::unknown) structure = check_structure(model);
  if (imports.empty() && structure.empty() && !objects(types)) return result;
  const Positions positions(model);
  std::vector<Ordered> findings;
  for (Finding& finding : imports) {
    const Order order = positions.at(finding.layer);
    findings.push_back({order, std::move(finding)});
  }
  add_structure(structure, positions, findings);
  for (const NodeRemarks& remarks : types.remarks) {
    for (const Violation& violation : remarks.violations) {
      findings.push_back({positions.at(remarks.layer), to_finding(remarks, violation)});
    }
  }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Ordered& a, const Ordered& b) { return a.order < b.order; });
  for (Ordered& one : findings) result.findings.push_back(std::move(one.finding));
  return result;
}

}  // namespace assay

#include "graph/order.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include <fmt/format.h>

#include "graph/calls.h"
#include "graph/dependencies.h"
#include "graph/name_index.h"
#include "graph/names.h"

namespace assay {
namespace {

constexpr std::size_t kMostFindings = 1000;
constexpr std::size_t kLongestPath = 12;  // nodes of a cycle that a message shows

// What a graph and a function have in common.
struct Body {
  std::string path;
  const std::vector<Node>& nodes;
  std::vector<std::string_view> inputs, initializers, outputs;
};

// Who defined a name that is visible: a node, or a place at the head of the graph.
struct Definition {
  std::size_t depth = 0;  // 0: it is not
  std::string_view by{};
};

struct Frame {
  const Body* body;
  std::size_t position = 0;                      // of the node that is being checked
  std::vector<std::pair<int, Definition>> undo;  // what names were before, in a graph inside
  std::optional<Dependencies> dependencies;      // made at the first name that is not defined
  std::set<std::size_t> reported_cycles;
};

class StructureChecker {
 public:
  void check_top(const Body& body, const std::map<std::string, std::int64_t>& opsets);
  bool full() const { return findings_.size() >= kMostFindings; }
  void add(std::string node, std::string rule, std::string message);
  std::vector<StructureFinding> take() { return std::move(findings_); }

 private:
  void check(const Body& body);
  void check_head(const Body& body);
  void check_node(const Node& node);
  void check_subgraphs(const Node& node);
  void check_attributes(const Node& node);
  void check_domain(const Node& node);
  void check_outputs(const Body& body);
  void check_use(const std::string& name);
  void report_late(Frame& frame, const std::string& name, std::size_t producer);
  int number_of(std::string_view name);
  void define(int number, std::string_view by);
  const Definition* find(std::string_view name) const;  // null: it is not visible
  bool defined_here(std::string_view name) const;
  std::string path_of(const Frame& frame, std::size_t position) const;
  std::string here() const { return path_of(frames_.back(), frames_.back().position); }

  std::vector<StructureFinding> findings_;
  std::vector<Frame> frames_;
  NameIndex names_;
  std::vector<Definition> definitions_;  // by the number of the name
  const std::map<std::string, std::int64_t>* opsets_ = nullptr;
  std::set<std::string> missing_domains_;  // each is reported once
};

Body body_of(const Graph& graph, std::string path) {
  Body body{std::move(path), graph.nodes, {}, {}, {}};
  for (const NamedType& input : graph.inputs) body.inputs.push_back(input.name);
  for (const NamedTensor& tensor : graph.initializers) body.initializers.push_back(tensor.name);
  for (const auto& [name, tensor] : graph.sparse_initializers) body.initializers.push_back(name);
  for (const NamedType& output : graph.outputs) body.outputs.push_back(output.name);
  return body;
}

void StructureChecker::add(std::string node, std::string rule, std::string message) {
  if (!full()) findings_.push_back({std::move(node), std::move(message), std::move(rule)});
}

std::string StructureChecker::path_of(const Frame& frame, std::size_t position) const {
  const std::string name = printable(display_name(frame.body->nodes[position], position));
  return frame.body->path.empty() ? name : frame.body->path + "/" + name;
}

const Definition* StructureChecker::find(std::string_view name) const {
  const int number = names_.find(name);
  if (number < 0) return nullptr;
  const Definition& definition = definitions_[static_cast<std::size_t>(number)];
  return definition.depth == 0 ? nullptr : &definition;
}

bool StructureChecker::defined_here(std::string_view name) const {
  const Definition* found = find(name);
  return found && found->depth == frames_.size();
}

int StructureChecker::number_of(std::string_view name) {
  const auto [number, fresh] = names_.add(name);
  if (fresh) definitions_.emplace_back();
  return number;
}

void StructureChecker::define(int number, std::string_view by) {
  Definition& definition = definitions_[static_cast<std::size_t>(number)];
  if (frames_.size() > 1) frames_.back().undo.emplace_back(number, definition);
  definition = {frames_.size(), by};
}

void StructureChecker::check_top(const Body& body,
                                 const std::map<std::string, std::int64_t>& opsets) {
  opsets_ = &opsets;
  missing_domains_.clear();
  names_.clear();
  definitions_.clear();
  const std::size_t names = body.inputs.size() + body.initializers.size() + body.nodes.size();
  names_.reserve(names);
  definitions_.reserve(names);
  check(body);
}

void StructureChecker::check(const Body& body) {
  frames_.push_back({&body, 0, {}, {}, {}});
  check_head(body);
  for (std::size_t i = 0; i < body.nodes.size() && !full(); ++i) {
    frames_.back().position = i;
    check_node(body.nodes[i]);
  }
  check_outputs(body);
  auto& undo = frames_.back().undo;
  for (auto change = undo.rbegin(); change != undo.rend(); ++change) {
    definitions_[static_cast<std::size_t>(change->first)] = change->second;
  }
  frames_.pop_back();
}

void StructureChecker::check_head(const Body& body) {
  const auto check = [&](std::string_view name, const char* kind, bool repeated) {
    if (name.empty()) {
      add(body.path, "Graph.unnamed", fmt::format("an {} has no name", kind));
    } else if (repeated) {
      add(body.path, "Graph.duplicate", fmt::format("two {}s are named {}", kind, in_quotes(name)));
    } else {
      define(number_of(name), kind);
    }
  };
  for (const std::string_view name : body.inputs) check(name, "input", defined_here(name));
  std::unordered_set<std::string_view> initializers;  // may name an input: they are its default
  for (const std::string_view name : body.initializers) {
    check(name, "initializer", !initializers.insert(name).second);
  }
}

void StructureChecker::check_node(const Node& node) {
  if (node.op.empty()) add(here(), "Graph.operator", "the node names no operator");
  check_domain(node);
  for (const std::string& name : node.inputs) check_use(name);
  check_attributes(node);
  check_subgraphs(node);
  for (const std::string& name : node.outputs) {
    if (name.empty()) continue;
    const int number = number_of(name);
    const Definition before = definitions_[static_cast<std::size_t>(number)];
    if (before.depth != frames_.size()) define(number, "node");
    if (before.depth == frames_.size()) {
      add(here(), "Graph.duplicate",
          fmt::format("output {} is already the name of an earlier {}", in_quotes(name),
                      before.by == "node" ? "output" : before.by));
    } else if (before.depth > 0) {
      add(here(), "Graph.shadow",
          fmt::format("output {} hides a name of an outer graph", in_quotes(name)));
    }
  }
}

void StructureChecker::check_attributes(const Node& node) {
  if (node.attributes.size() < 2) return;
  NameIndex seen;
  for (const Attribute& attribute : node.attributes) {
    if (!seen.add(attribute.name).second) {
      add(here(), "Graph.attribute",
          fmt::format("attribute {} is given twice", in_quotes(attribute.name)));
    }
  }
}

void StructureChecker::check_domain(const Node& node) {
  if (opsets_->contains(node.domain) || !missing_domains_.insert(node.domain).second) return;
  add(here(), "Graph.opset",
      fmt::format("no operator set is imported for its domain {}", in_quotes(node.domain)));
}

void StructureChecker::check_subgraphs(const Node& node) {
  for_each_subgraph(node, [&](const std::string& attribute, const Graph& graph) {
    if (full()) return;
    const std::string path = here() + "/" + printable(attribute);
    if (frames_.size() > static_cast<std::size_t>(kMaxNesting)) {
      add(path, "Graph.nesting", fmt::format("subgraphs are nested deeper than {}", kMaxNesting));
      return;
    }
    const Body body = body_of(graph, path);
    check(body);
  });
}

void StructureChecker::check_outputs(const Body& body) {
  for (const std::string_view name : body.outputs) {
    if (name.empty()) {
      add(body.path, "Graph.unnamed", "an output has no name");
    } else if (!defined_here(name)) {
      add(body.path, "Graph.output",
          fmt::format("output {} {}", in_quotes(name),
                      find(name) ? "is a value of an outer graph; it must be made here"
                                 : "is made by no node"));
    }
  }
}

void StructureChecker::check_use(const std::string& name) {
  if (name.empty() || find(name)) return;
  for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
    if (!frame->dependencies) frame->dependencies.emplace(frame->body->nodes);
    if (const auto producer = frame->dependencies->producer(name)) {
      report_late(*frame, name, *producer);
      return;
    }
  }
  add(here(), "Graph.undefined", fmt::format("input {} is defined nowhere", in_quotes(name)));
}

void StructureChecker::report_late(Frame& frame, const std::string& name, std::size_t producer) {
  const std::size_t user = frame.position;
  if (!frame.dependencies->in_one_cycle(user, producer)) {
    add(here(), "Graph.order",
        fmt::format("input {} is out of order: only the later node {} makes it", in_quotes(name),
                    in_quotes(display_name(frame.body->nodes[producer], producer))));
    return;
  }
  if (!frame.reported_cycles.insert(frame.dependencies->component(user)).second) return;
  std::string path = in_quotes(display_name(frame.body->nodes[user], user));
  const std::vector<std::size_t> nodes = frame.dependencies->path(producer, user);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool skip =
        nodes.size() > kLongestPath && i >= kLongestPath / 2 && i + kLongestPath / 2 < nodes.size();
    if (skip && i != kLongestPath / 2) continue;
    path += skip ? fmt::format(" <- ({} more)", nodes.size() - kLongestPath)
                 : " <- " + in_quotes(display_name(frame.body->nodes[nodes[i]], nodes[i]));
  }
  add(here(), "Graph.cycle", "the node needs its own result: " + path);
}

void note_captures(const Graph& graph, std::unordered_set<std::string>& known,
                   std::vector<std::string>& captured) {
  std::unordered_set<std::string_view> own;
  for (const NamedType& input : graph.inputs) own.insert(input.name);
  for (const NamedTensor& tensor : graph.initializers) own.insert(tensor.name);
  for (const auto& [name, tensor] : graph.sparse_initializers) own.insert(name);
  for (const Node& node : graph.nodes) own.insert(node.outputs.begin(), node.outputs.end());
  const auto note = [&](const std::string& name) {
    if (!name.empty() && !own.contains(name) && known.insert(name).second) {
      captured.push_back(name);
    }
  };
  for (const Node& node : graph.nodes) {
    std::ranges::for_each(node.inputs, note);
    for_each_subgraph(node, [&](const std::string&, const Graph& inner) {
      std::ranges::for_each(captured_names(inner), note);
    });
  }
  for (const NamedType& output : graph.outputs) note(output.name);
}

}  // namespace

std::vector<std::string> captured_names(const Graph& graph) {
  std::unordered_set<std::string> known;
  std::vector<std::string> captured;
  note_captures(graph, known, captured);
  return captured;
}

std::vector<StructureFinding> check_structure(const Model& model) {
  StructureChecker checker;
  const Body main = body_of(model.graph, "");
  checker.check_top(main, model.opsets);
  for (const Function& function : model.functions) {
    Body body{printable(function.name), function.nodes, {}, {}, {}};
    body.inputs.assign(function.inputs.begin(), function.inputs.end());
    body.outputs.assign(function.outputs.begin(), function.outputs.end());
    checker.check_top(body, function.opsets);
  }
  for (StructureFinding& finding : check_calls(model)) {
    checker.add(std::move(finding.node), std::move(finding.rule), std::move(finding.message));
  }
  return checker.take();
}

}  // namespace assay

#include "numeric/rewrite.h"

#include <algorithm>
#include <unordered_set>

#include "graph/names.h"
#include "graph/origin.h"
#include "layers/splice.h"
#include "ops/catalogue.h"

namespace assay {
namespace {

using GraphPointer = std::shared_ptr<const Graph>;

// What names inside of a graph that is an attribute begin with.
std::string path_into(const Node& node, std::size_t position, const Attribute& attribute) {
  return printable(display_name(node, position)) + "/" + printable(attribute.name) + "/";
}

const Graph* find_inside(const Graph& graph, std::string_view path) {
  if (path.empty()) return &graph;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (const Attribute& attribute : graph.nodes[i].attributes) {
      const auto* inner = std::get_if<GraphPointer>(&attribute.value);
      if (!inner || !*inner) continue;
      const std::string prefix = path_into(graph.nodes[i], i, attribute);
      if (path.starts_with(prefix)) return find_inside(**inner, path.substr(prefix.size()));
    }
  return nullptr;
}

bool edit_inside(Graph& graph, std::string_view path, const std::function<void(Graph&)>& edit) {
  if (path.empty()) {
    edit(graph);
    return true;
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (Attribute& attribute : graph.nodes[i].attributes) {
      auto* inner = std::get_if<GraphPointer>(&attribute.value);
      if (!inner || !*inner) continue;
      const std::string prefix = path_into(graph.nodes[i], i, attribute);
      if (!path.starts_with(prefix)) continue;
      Graph copy = **inner;
      if (!edit_inside(copy, path.substr(prefix.size()), edit)) return false;
      *inner = std::make_shared<const Graph>(std::move(copy));
      return true;
    }
  }
  return false;
}

// The body's graph for an input of the given type, with operators of their newest versions.
Graph body_of(const Rewrite& rewrite, const ValueType& type) {
  Node call;
  call.inputs = {"x"};
  call.outputs = {"y"};
  call.attributes = rewrite.parameters;
  Site site(call, 1);
  site.inputs.push_back({true, type, {}, {}});
  Graph body = compose(rewrite.body, site);
  for (Node& node : body.nodes)
    node.version =
        find_operator(node.domain, node.op, newest_opsets().at("")).schema->since_version;
  return body;
}

std::vector<Node> nodes_of(const Rewrite& rewrite, const ValueType& type, const std::string& from,
                           const std::string& to, const std::string& op) {
  Graph made;
  splice({to, op, to, {from}, {to}}, body_of(rewrite, type), made);
  return std::move(made.nodes);
}

// Nodes whose results nobody reads any more. Graphs inside of nodes read what they name.
void drop_unread(Graph& graph) {
  std::unordered_set<std::string> read;
  for (const NamedType& output : graph.outputs) read.insert(output.name);
  const std::function<void(const Node&)> note = [&](const Node& node) {
    read.insert(node.inputs.begin(), node.inputs.end());
    for (const Attribute& attribute : node.attributes)
      if (const auto* inner = std::get_if<GraphPointer>(&attribute.value)) {
        for (const NamedType& output : (*inner)->outputs) read.insert(output.name);
        for (const Node& one : (*inner)->nodes) note(one);
      }
  };
  std::vector<Node> kept;
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    Node& node = graph.nodes[i];
    const bool used =
        node.outputs.empty() || std::any_of(node.outputs.begin(), node.outputs.end(),
                                            [&](const auto& name) { return read.contains(name); });
    if (!used) continue;
    note(node);
    kept.push_back(std::move(node));
  }
  graph.nodes.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
}

bool replace_value(const Rewrite& rewrite, const TypeOf& type_of, Graph& graph) {
  const auto made = std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    return node.outputs.size() == 1 && node.outputs[0] == rewrite.target;
  });
  const ValueType type = type_of(rewrite.source);
  if (made == graph.nodes.end() || !type.is_tensor()) return false;
  const std::string op = rewrite.name;
  std::vector<Node> nodes = nodes_of(rewrite, type, rewrite.source, rewrite.target, op);
  const auto place = graph.nodes.erase(made);
  graph.nodes.insert(place, std::make_move_iterator(nodes.begin()),
                     std::make_move_iterator(nodes.end()));
  drop_unread(graph);
  return true;
}

}  // namespace

const Graph* find_graph(const Model& model, std::string_view path) {
  return find_inside(model.graph, path);
}

bool edit_graph(Model& model, const std::string& path, const std::function<void(Graph&)>& edit) {
  return edit_inside(model.graph, path, edit);
}

bool apply_rewrite(const Rewrite& rewrite, const std::string& node, const TypeOf& type_of,
                   Graph& graph) {
  if (rewrite.inputs.empty()) return replace_value(rewrite, type_of, graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (printable(display_name(graph.nodes[i], i)) != node) continue;
    std::vector<Node> added;
    for (std::size_t input : rewrite.inputs) {
      const std::string from = graph.nodes[i].inputs[input];
      const ValueType type = type_of(from);
      if (!type.is_tensor()) return false;
      const std::string to = node + "::" + rewrite.name + std::to_string(input);
      for (Node& one : nodes_of(rewrite, type, from, to, rewrite.name))
        added.push_back(std::move(one));
      graph.nodes[i].inputs[input] = to;
    }
    graph.nodes.insert(graph.nodes.begin() + static_cast<std::ptrdiff_t>(i),
                       std::make_move_iterator(added.begin()),
                       std::make_move_iterator(added.end()));
    return true;
  }
  return false;
}

}  // namespace assay

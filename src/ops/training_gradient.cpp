#include "ops/training_gradient.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "graph/names.h"
#include "graph/order.h"
#include "ops/catalogue.h"

namespace assay {
namespace {

using Names = std::vector<std::string>;
using Values = std::map<std::string, Value>;

// All names that a node reads, those that its subgraphs capture included.
Names needs_of(const Node& node) {
  Names needs = node.inputs;
  for_each_subgraph(node, [&](const std::string&, const Graph& graph) {
    const Names captured = captured_names(graph);
    needs.insert(needs.end(), captured.begin(), captured.end());
  });
  std::erase(needs, "");
  return needs;
}

// The part of a graph that computes y from the independent variables, in order of execution.
class Differentiated {
 public:
  Differentiated(Graph around, const Names& independent, const std::string& y)
      : around_(std::move(around)) {
    for (std::size_t i = 0; i < around_.nodes.size(); ++i)
      for (const std::string& output : around_.nodes[i].outputs) producers_.emplace(output, i);
    for (const std::string& name : independent) producers_.erase(name);
    for (const NamedTensor& initializer : around_.initializers) known_.insert(initializer.name);
    known_.insert(independent.begin(), independent.end());
    std::set<std::size_t> needed;
    collect(y, needed);
    for (std::size_t i : needed) nodes.push_back(around_.nodes[i]);
    for (const std::string& name : independent) forward.inputs.push_back({name, {}, {}, {}});
    for (const NamedTensor& initializer : around_.initializers)
      if (std::find(independent.begin(), independent.end(), initializer.name) == independent.end())
        forward.initializers.push_back(initializer);
    forward.nodes = nodes;
    for (const Node& node : nodes)
      for (const std::string& output : node.outputs)
        if (!output.empty()) forward.outputs.push_back({output, {}, {}, {}});
  }

  std::vector<Node> nodes;
  Graph forward;  // gives every value on the way

 private:
  void collect(const std::string& target, std::set<std::size_t>& needed) const {
    Names open = {target};
    while (!open.empty()) {
      const std::string name = std::move(open.back());
      open.pop_back();
      const auto producer = producers_.find(name);
      if (producer == producers_.end()) {
        if (known_.count(name)) continue;
        throw EvaluationError(
            "Gradient.independent",
            fmt::format("{} is neither computed from xs and zs nor one of them", in_quotes(name)));
      }
      if (!needed.insert(producer->second).second) continue;
      const Names needs = needs_of(around_.nodes[producer->second]);
      open.insert(open.end(), needs.begin(), needs.end());
    }
  }

  Graph around_;
  std::map<std::string, std::size_t> producers_;
  std::set<std::string> known_;
};

Value filled(const Value& like, double value) {
  const std::vector<double> elements(static_cast<std::size_t>(like.tensor().size()), value);
  return make_tensor(like.type(), like.shape(), elements);
}

Value sum_of(const Call& call, const Value& a, const Value& b) {
  Graph graph;
  graph.inputs = {{"a", {}, {}, {}}, {"b", {}, {}, {}}};
  graph.outputs = {{"sum", {}, {}, {}}};
  Node add;
  add.op = "Add";
  add.inputs = {"a", "b"};
  add.outputs = {"sum"};
  graph.nodes.push_back(std::move(add));
  const std::vector<Value> inputs = {a, b};
  return call.evaluator.run_function(call, graph, inputs).front();
}

// What an adjoint's graph takes: the node's inputs, its outputs, the outputs' gradients.
std::vector<Value> adjoint_inputs(const Node& node, const Values& values, const Values& gradients) {
  std::vector<Value> inputs;
  const auto take = [&](const std::string& name) {
    inputs.push_back(name.empty() ? Value() : values.at(name));
  };
  for (const std::string& input : node.inputs) take(input);
  for (const std::string& output : node.outputs) take(output);
  for (const std::string& output : node.outputs) {
    const auto found = gradients.find(output);
    if (found != gradients.end())
      inputs.push_back(found->second);
    else
      inputs.push_back(output.empty() || !values.at(output).is_tensor()
                           ? Value()
                           : filled(values.at(output), 0));
  }
  return inputs;
}

// The gradients of a node's inputs, by the entry's adjoint.
std::vector<Value> run_adjoint(const Call& call, const Node& node, const Values& values,
                               const Values& gradients) {
  const Lookup found = find_operator(node.domain, node.op, node.version);
  if (!found.entry || !found.entry->adjoint.graph)
    throw EvaluationError(
        "Gradient.no-adjoint",
        fmt::format("{} has no adjoint: {}", node.op,
                    found.entry ? found.entry->adjoint.reason : "it is not in the catalogue"));
  const std::vector<Value> inputs = adjoint_inputs(node, values, gradients);
  Node adjoint = node;
  adjoint.inputs.clear();
  adjoint.outputs.clear();
  Site site(adjoint, node.version);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    adjoint.inputs.push_back(inputs[i].present() ? fmt::format("input{}", i) : "");
    Known known;
    known.present = inputs[i].present();
    known.type = inputs[i].value_type();
    if (inputs[i].is_tensor() && inputs[i].exact()) known.constant = inputs[i].tensor();
    site.inputs.push_back(std::move(known));
  }
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    adjoint.outputs.push_back(fmt::format("gradient{}", i));
  return call.evaluator.run_function(call, compose(found.entry->adjoint.graph, site), inputs);
}

// Names that depend on the variables by which y is differentiated.
std::set<std::string> active_names(const std::vector<Node>& nodes, const Names& xs) {
  std::set<std::string> active(xs.begin(), xs.end());
  for (const Node& node : nodes) {
    const Names needs = needs_of(node);
    if (std::any_of(needs.begin(), needs.end(), [&](const auto& n) { return active.count(n); }))
      active.insert(node.outputs.begin(), node.outputs.end());
  }
  active.erase("");
  return active;
}

// From y back to the variables; gradients of a value that is used more than once add up.
Values run_backward(const Call& call, const std::vector<Node>& nodes, const Values& values,
                    const Names& xs, const std::string& y) {
  const std::set<std::string> active = active_names(nodes, xs);
  Values gradients;
  gradients[y] = filled(values.at(y), 1);
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    const auto has = [&](const Values& map) {
      return std::any_of(
          node->outputs.begin(), node->outputs.end(),
          [&](const std::string& output) { return active.count(output) && map.count(output); });
    };
    if (!has(gradients)) continue;
    const std::vector<Value> results = run_adjoint(call, *node, values, gradients);
    for (std::size_t i = 0; i < node->inputs.size(); ++i) {
      const std::string& input = node->inputs[i];
      if (!active.count(input) || !results[i].present()) continue;
      const auto [place, fresh] = gradients.emplace(input, results[i]);
      if (!fresh) place->second = sum_of(call, place->second, results[i]);
    }
  }
  return gradients;
}

bool is_unknown(const Value& value) { return value.kind() == Value::Kind::unknown; }

void evaluate_gradient(Call& call) {
  const Names xs = call.site.texts("xs");
  const std::string& y = call.site.text("y");
  Names independent = xs;
  const Names zs = call.site.texts("zs");
  independent.insert(independent.end(), zs.begin(), zs.end());
  const Differentiated part(call.evaluator.surroundings(), independent, y);
  Values values;
  for (std::size_t i = 0; i < independent.size(); ++i) values[independent[i]] = call.input(i);
  for (const NamedTensor& initializer : part.forward.initializers)
    values[initializer.name] = initializer.tensor;
  const std::vector<Value> results = call.evaluator.run_function(call, part.forward, call.inputs);
  for (std::size_t i = 0; i < results.size(); ++i)
    values[part.forward.outputs[i].name] = results[i];
  const auto give_up = [&] {
    call.unknown = true;
    call.outputs.assign(call.outputs.size(), Value::unknown());
  };
  if (std::any_of(results.begin(), results.end(), is_unknown)) return give_up();
  if (!values.at(y).is_tensor() || !is_real(values.at(y).type()))
    throw EvaluationError("Gradient.real",
                          fmt::format("{} is no tensor of real numbers", in_quotes(y)));
  const Values gradients = run_backward(call, part.nodes, values, xs, y);
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    if (!call.site.has_output(i)) continue;
    const auto found = gradients.find(xs[i]);
    call.outputs[i] = found == gradients.end() ? filled(call.input(i), 0) : found->second;
    if (is_unknown(call.outputs[i])) return give_up();
  }
}

void require_gradient(Check& c) {
  Names names = c.site.texts("xs");
  const std::size_t count = names.size();
  const Names zs = c.site.texts("zs");
  names.insert(names.end(), zs.begin(), zs.end());
  c.argument(names.size() == c.site.input_count(), "length",
             fmt::format("{} names in xs and zs", c.site.input_count()),
             fmt::format("{}", names.size()));
  c.argument(c.site.output_count() <= count, "outputs", fmt::format("at most {} outputs", count),
             fmt::format("{}", c.site.output_count()));
  const std::set<std::string> distinct(names.begin(), names.end());
  c.argument(distinct.size() == names.size() && !distinct.count(""), "names",
             "each name once in xs and zs", fmt::format("{} of {}", distinct.size(), names.size()));
  c.argument(!c.site.text("y").empty(), "names", "a name as y", "none");
  for (std::size_t i = 0; i < c.site.input_count(); ++i)
    c.argument(c.site.has_input(i), "inputs", fmt::format("input {}", i), "none");
}

}  // namespace

Operator gradient() {
  return {.name = "Gradient",
          .domain = "ai.onnx.preview.training",
          .versions = {1},
          .summary = "The derivatives of y, a value of the graph around, by the values xs.",
          .attributes = {{"xs", Role::text}, {"y", Role::text}, {"zs", Role::text}},
          .require = require_gradient,
          .infer =
              [](Infer& n) {
                for (std::size_t i = 0; i < n.site.output_count(); ++i) n.output(i, n.site.type(i));
              },
          .meaning = custom(Pattern::control, evaluate_gradient)};
}

}  // namespace assay

#include "semantics/plan.h"

#include <fmt/format.h>

#include <set>
#include <unordered_map>

namespace assay {
namespace {

constexpr int kDeepestCall = 100;  // functions calling functions, subgraphs in subgraphs

// Names of one scope and of the scopes around it.
struct Scope {
  const Scope* outer = nullptr;
  std::unordered_map<std::string, int> slots;

  SlotRef find(const std::string& name) const {
    int depth = 0;
    for (const Scope* scope = this; scope; scope = scope->outer, ++depth)
      if (const auto place = scope->slots.find(name); place != scope->slots.end())
        return {depth, place->second};
    return {-1, -1};
  }
};

class Planner {
 public:
  explicit Planner(const Imports& imports) : imports_(imports) {}

  std::unique_ptr<Plan> plan(const Graph& graph, const Scope* outer) {
    if (++depth_ > kDeepestCall)
      throw EvaluationError("graph.depth", fmt::format("nested deeper than {} levels", kDeepestCall));
    auto plan = std::make_unique<Plan>();
    Scope scope{outer, {}};
    for (const NamedTensor& initializer : graph.initializers)
      plan->constants.emplace_back(define(*plan, scope, initializer.name), initializer.tensor);
    for (const auto& [name, sparse] : graph.sparse_initializers)
      plan->constants.emplace_back(define(*plan, scope, name), to_dense(sparse));
    for (const NamedType& input : graph.inputs)
      plan->inputs.push_back(input.name.empty() ? -1 : define(*plan, scope, input.name));
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      plan->nodes.push_back(plan_node(graph.nodes[i], i, *plan, scope));
    for (const NamedType& output : graph.outputs) plan->outputs.push_back(use(scope, output.name));
    mark_deaths(*plan);
    --depth_;
    return plan;
  }

 private:
  static int define(Plan& plan, Scope& scope, const std::string& name) {
    const auto [place, fresh] = scope.slots.emplace(name, static_cast<int>(plan.names.size()));
    if (fresh) plan.names.push_back(name);
    return place->second;
  }

  static SlotRef use(const Scope& scope, const std::string& name) {
    if (name.empty()) return {};
    const SlotRef found = scope.find(name);
    if (found.slot < 0)
      throw EvaluationError("graph.undefined-name", fmt::format("'{}' is not defined", name));
    return found;
  }

  static Tensor to_dense(const SparseTensor& sparse);

  PlannedNode plan_node(const Node& node, std::size_t position, Plan& plan, Scope& scope) {
    PlannedNode result;
    result.position = position;
    result.label = display_name(node, position);
    const auto opset = imports_.opsets->find(node.domain);
    const std::int64_t version = node.version              ? node.version
                                 : opset == imports_.opsets->end() ? 0
                                                                   : opset->second;
    const Function* function =
        imports_.model ? imports_.model->find_function(node.domain, node.op, node.overload) : nullptr;
    if (!function) result.found = find_operator(node.domain, node.op, version);
    result.node = result.found.schema ? complete(node, *result.found.schema) : node;
    for (const std::string& input : node.inputs) result.inputs.push_back(use(scope, input));
    plan_subgraphs(result, scope);
    if (function) result.function = plan_function(*function, node);
    for (const std::string& output : node.outputs)
      result.outputs.push_back(output.empty() ? -1 : define(plan, scope, output));
    return result;
  }

  void plan_subgraphs(PlannedNode& node, const Scope& scope) {
    for (const Attribute& attribute : node.node.attributes) {
      if (const auto* graph = std::get_if<std::shared_ptr<const Graph>>(&attribute.value))
        node.subgraphs.emplace(graph->get(), plan(**graph, &scope));
      if (const auto* graphs = std::get_if<std::vector<std::shared_ptr<const Graph>>>(&attribute.value))
        for (const auto& graph : *graphs)
          node.subgraphs.emplace(graph.get(), plan(*graph, &scope));
    }
  }

  std::unique_ptr<Plan> plan_function(const Function& function, const Node& call);

  static void mark_deaths(Plan& plan);

  Imports imports_;
  int depth_ = 0;
};

Tensor Planner::to_dense(const SparseTensor& sparse) {
  Tensor result(sparse.values.type(), sparse.shape);
  const std::vector<std::int64_t> strides = strides_of(sparse.shape);
  const std::vector<std::int64_t> indices = sparse.indices.integers();
  const bool flat = sparse.indices.rank() < 2;
  visit_storage(result.type(), [&]<class T>(T*) {
    const auto out = result.mutate<T>();
    const auto values = sparse.values.data<T>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::int64_t at = 0;
      if (flat)
        at = indices[i];
      else
        for (std::size_t d = 0; d < strides.size(); ++d) at += indices[i * strides.size() + d] * strides[d];
      if (at < 0 || at >= result.size())
        throw EvaluationError("graph.sparse-index", "an index of a sparse tensor is out of range");
      out[static_cast<std::size_t>(at)] = values[i];
    }
  });
  return result;
}

// Attribute references replaced by what the call gives, or the function's default; one that has
// neither is left out, as the standard says.
std::vector<Node> bind_attributes(const std::vector<Node>& nodes, const Function& function,
                                  const Node& call);

std::shared_ptr<const Graph> bind_graph(const Graph& graph, const Function& function, const Node& call) {
  auto result = std::make_shared<Graph>(graph);
  result->nodes = bind_attributes(graph.nodes, function, call);
  return result;
}

std::optional<AttributeValue> bind_value(const AttributeValue& value, const Function& function,
                                         const Node& call) {
  if (const auto* reference = std::get_if<AttributeReference>(&value)) {
    if (const AttributeValue* given = call.find(reference->name)) return *given;
    for (const Attribute& attribute : function.attribute_defaults)
      if (attribute.name == reference->name) return attribute.value;
    return std::nullopt;
  }
  if (const auto* graph = std::get_if<std::shared_ptr<const Graph>>(&value))
    return AttributeValue(bind_graph(**graph, function, call));
  return value;
}

std::vector<Node> bind_attributes(const std::vector<Node>& nodes, const Function& function,
                                  const Node& call) {
  std::vector<Node> result = nodes;
  for (Node& node : result) {
    std::vector<Attribute> bound;
    for (Attribute& attribute : node.attributes)
      if (auto value = bind_value(attribute.value, function, call))
        bound.push_back({attribute.name, *std::move(value), attribute.doc});
    node.attributes = std::move(bound);
  }
  return result;
}

std::unique_ptr<Plan> Planner::plan_function(const Function& function, const Node& call) {
  Graph body;
  body.name = function.name;
  for (const std::string& input : function.inputs) body.inputs.push_back({input, {}, {}, {}});
  for (const std::string& output : function.outputs) body.outputs.push_back({output, {}, {}, {}});
  body.nodes = bind_attributes(function.nodes, function, call);
  const Imports outer = imports_;
  std::map<std::string, std::int64_t> opsets = *outer.opsets;
  for (const auto& [domain, version] : function.opsets) opsets[domain] = version;
  imports_.opsets = &opsets;
  auto result = plan(body, nullptr);
  imports_ = outer;
  return result;
}

// Slots of the scope `depth` levels out that a subgraph uses.
void collect_captures(const Plan& plan, int depth, std::set<int>& slots) {
  const auto take = [&](const SlotRef& ref) {
    if (ref.slot >= 0 && ref.depth == depth) slots.insert(ref.slot);
  };
  for (const SlotRef& output : plan.outputs) take(output);
  for (const PlannedNode& node : plan.nodes) {
    for (const SlotRef& input : node.inputs) take(input);
    for (const auto& [graph, body] : node.subgraphs) collect_captures(*body, depth + 1, slots);
  }
}

void Planner::mark_deaths(Plan& plan) {
  std::set<int> alive;
  for (const SlotRef& output : plan.outputs)
    if (output.depth == 0) alive.insert(output.slot);
  for (std::size_t i = plan.nodes.size(); i-- > 0;) {
    PlannedNode& node = plan.nodes[i];
    std::set<int> used;
    for (const SlotRef& input : node.inputs)
      if (input.slot >= 0 && input.depth == 0) used.insert(input.slot);
    for (const auto& [graph, body] : node.subgraphs) collect_captures(*body, 1, used);
    for (int output : node.outputs)
      if (output >= 0) used.insert(output);
    for (int slot : used)
      if (alive.insert(slot).second) node.dying.push_back(slot);
  }
}

}  // namespace

std::unique_ptr<Plan> make_plan(const Graph& graph, const Imports& imports) {
  return Planner(imports).plan(graph, nullptr);
}

}  // namespace assay

#include "semantics/plan.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "graph/name_index.h"
#include "graph/names.h"
#include "graph/order.h"
#include "ops/defaults.h"
#include "semantics/bind.h"
#include "semantics/growing_plan.h"
#include "semantics/plan_composed.h"

namespace assay {
namespace {

// Functions that call functions a few times each unfold to any number of nodes.
constexpr std::size_t kMostUnfolded = 200'000;

// Names of one scope and of the scopes around it.
struct Scope {
  const Scope* outer = nullptr;
  NameIndex slots{};  // of which the number is the slot

  SlotRef find(std::string_view name) const {
    int depth = 0;
    for (const Scope* scope = this; scope; scope = scope->outer, ++depth) {
      if (const int slot = scope->slots.find(name); slot >= 0) return {depth, slot};
    }
    return {-1, -1};
  }
};

// `name` must outlive the scope.
int define(Plan& plan, Scope& scope, const std::string& name) {
  const auto [slot, fresh] = scope.slots.add(name);
  if (fresh) plan.names.push_back(name);
  return slot;
}

class Planner {
 public:
  // The nodes of `own`, if given, are taken from it.
  explicit Planner(const Imports& imports, Graph* own = nullptr) : imports_(imports), own_(own) {}

  std::unique_ptr<Plan> plan(const Graph& graph, const Scope* outer);
  PlannedNode begin(const Node& node) const;
  PlannedNode begin_own(Node& node) const;
  void number(PlannedNode& node, std::size_t position) {
    node.id = node_count_++;
    node.position = position;
  }
  // The rest of what `result` has.
  void plan_node(std::size_t position, Plan& plan, Scope& scope, PlannedNode& result);

 private:
  void define_constants(const Graph& graph, Plan& plan, Scope& scope) const;
  void declare(const Graph& graph, Plan& plan, const Scope& scope) const;
  SlotRef use(Plan& plan, Scope& scope, const std::string& name) const;
  Lookup look_up(const Node& node) const;
  const Function* function_of(const Node& node) const;
  void plan_subgraphs(PlannedNode& node, const Scope& scope);
  std::shared_ptr<const Plan> plan_function(const Function& function, const Node& call);

  Imports imports_;
  Graph* own_;
  int depth_ = 0;
  std::size_t node_count_ = 0, plan_count_ = 0, unfolded_ = 0;
  bool in_function_ = false;
  std::map<const Function*, std::shared_ptr<const Plan>> shared_;  // those without attributes
};

// Slots of the scope `depth` levels out that a subgraph uses.
void collect_captures(const Plan& plan, int depth, std::set<int>& slots) {
  const auto take = [&](const SlotRef& ref) {
    if (ref.slot >= 0 && ref.depth == depth) slots.insert(ref.slot);
  };
  for (const SlotRef& output : plan.outputs) take(output);
  for (const PlannedNode& node : plan.nodes) {
    for (const SlotRef& input : node.inputs) take(input);
    for (const PlannedSubgraph& inner : node.subgraphs) {
      collect_captures(*inner.plan, depth + 1, slots);
    }
  }
}

// Marks, from the end, where each slot is used last. Initialisers stay: the next run needs them.
void mark_deaths(Plan& plan) {
  std::vector<bool> alive(plan.names.size());
  const auto is_fresh = [&](int slot) {
    const auto place = static_cast<std::size_t>(slot);
    const bool fresh = !alive[place];
    alive[place] = true;
    return fresh;
  };
  for (const auto& [slot, tensor] : plan.constants) is_fresh(slot);
  for (const SlotRef& output : plan.outputs) {
    if (output.depth == 0 && output.slot >= 0 && is_fresh(output.slot)) {
      plan.kept.push_back(output.slot);
    }
  }
  for (std::size_t i = plan.nodes.size(); i-- > 0;) {
    PlannedNode& node = plan.nodes[i];
    node.dying.reserve(node.inputs.size());
    std::set<int> captured;
    for (const PlannedSubgraph& inner : node.subgraphs) collect_captures(*inner.plan, 1, captured);
    for (int slot : captured) {
      if (is_fresh(slot)) node.dying.push_back(slot);
    }
    for (std::size_t k = node.inputs.size(); k-- > 0;) {
      SlotRef& input = node.inputs[k];
      if (input.slot < 0 || input.depth > 0 || !is_fresh(input.slot)) continue;
      node.dying.push_back(input.slot);
      input.last = true;
    }
    for (int slot : node.outputs) {
      if (slot >= 0 && is_fresh(slot)) node.dying.push_back(slot);
    }
  }
  for (int slot : plan.inputs) {
    if (slot >= 0 && is_fresh(slot)) plan.kept.push_back(slot);  // an input that nothing reads
  }
}

std::unique_ptr<Plan> Planner::plan(const Graph& graph, const Scope* outer) {
  if (++depth_ > kMaxNesting) {
    throw EvaluationError(
        "Graph.nesting",
        fmt::format("graphs and functions are nested deeper than {}", kMaxNesting));
  }
  auto plan = std::make_unique<Plan>();
  plan->id = plan_count_++;
  Scope scope{outer};
  const std::size_t names =
      graph.initializers.size() + graph.inputs.size() + graph.nodes.size() + graph.outputs.size();
  plan->names.reserve(names);
  scope.slots.reserve(names);
  plan->inputs.reserve(graph.inputs.size());
  plan->outputs.reserve(graph.outputs.size());
  define_constants(graph, *plan, scope);
  for (const NamedType& input : graph.inputs) {
    plan->inputs.push_back(input.name.empty() ? -1 : define(*plan, scope, input.name));
  }
  const bool taken = &graph == own_;
  if (taken) plan->taken = std::move(own_->nodes);
  const std::size_t count = taken ? plan->taken.size() : graph.nodes.size();
  plan->nodes.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    plan->nodes.push_back(taken ? begin_own(plan->taken[i]) : begin(graph.nodes[i]));
    plan_node(i, *plan, scope, plan->nodes.back());
  }
  for (const NamedType& output : graph.outputs) {
    plan->outputs.push_back(use(*plan, scope, output.name));
  }
  if (imports_.for_types) declare(graph, *plan, scope);
  mark_deaths(*plan);
  --depth_;
  plan->node_count = node_count_;
  plan->plan_count = plan_count_;
  return plan;
}

void Planner::define_constants(const Graph& graph, Plan& plan, Scope& scope) const {
  plan.constants.reserve(graph.initializers.size());
  for (const NamedTensor& initializer : graph.initializers) {
    plan.constants.emplace_back(define(plan, scope, initializer.name), initializer.tensor);
  }
  for (const auto& [name, sparse] : graph.sparse_initializers) {
    const int slot = define(plan, scope, name);
    if (!imports_.for_types) plan.constants.emplace_back(slot, to_dense(sparse));
  }
}

void Planner::declare(const Graph& graph, Plan& plan, const Scope& scope) const {
  const auto note = [&](const std::string& name, const ValueType& type) {
    plan.declared.emplace_back(scope.slots.find(name), type);
  };
  for (const NamedType& input : graph.inputs) note(input.name, input.type);
  for (const NamedType& value : graph.value_info) note(value.name, value.type);
  for (const NamedType& output : graph.outputs) note(output.name, output.type);
  for (const auto& [name, sparse] : graph.sparse_initializers) {
    note(name, ValueType::tensor(sparse.values.type(), to_dims(sparse.shape)));
  }
}

SlotRef Planner::use(Plan& plan, Scope& scope, const std::string& name) const {
  if (name.empty()) return {};
  const SlotRef found = scope.find(name);
  if (found.slot >= 0) return found;
  if (imports_.for_types) return {0, define(plan, scope, name)};
  throw EvaluationError("Graph.undefined", fmt::format("{} is not defined", in_quotes(name)));
}

Lookup Planner::look_up(const Node& node) const {
  if (function_of(node)) return {};
  std::int64_t version = node.version;
  if (version == 0) {
    const auto opset = imports_.opsets->find(node.domain);
    if (opset != imports_.opsets->end()) version = opset->second;
  }
  return find_operator(node.domain, node.op, version);
}

const Function* Planner::function_of(const Node& node) const {
  return imports_.model ? imports_.model->find_function(node.domain, node.op, node.overload)
                        : nullptr;
}

PlannedNode Planner::begin(const Node& node) const {
  const Lookup found = look_up(node);
  if (!found.schema || is_complete(node, *found.schema)) return {node, found};
  return {std::make_unique<const Node>(complete(node, *found.schema)), found};
}

PlannedNode Planner::begin_own(Node& node) const {
  const Lookup found = look_up(node);
  if (found.schema) fill_defaults(node, *found.schema);
  return {node, found};
}

void Planner::plan_node(std::size_t position, Plan& plan, Scope& scope, PlannedNode& result) {
  if (in_function_ && ++unfolded_ > kMostUnfolded) {
    throw EvaluationError("Graph.size",
                          fmt::format("functions unfold to more than {} nodes", kMostUnfolded));
  }
  const Node& own = result.node;
  number(result, position);
  result.inputs.reserve(own.inputs.size());
  for (const std::string& input : own.inputs) result.inputs.push_back(use(plan, scope, input));
  plan_subgraphs(result, scope);
  if (const Function* function = result.found.schema ? nullptr : function_of(own)) {
    result.function = plan_function(*function, own);
  }
  result.outputs.reserve(own.outputs.size());
  for (const std::string& output : own.outputs) {
    result.outputs.push_back(output.empty() ? -1 : define(plan, scope, output));
  }
}

void Planner::plan_subgraphs(PlannedNode& node, const Scope& scope) {
  for_each_subgraph(node.node, [&](const std::string& attribute, const Graph& graph) {
    node.subgraphs.push_back({attribute, &graph, plan(graph, &scope)});
  });
}

std::shared_ptr<const Plan> Planner::plan_function(const Function& function, const Node& call) {
  const bool shareable = function.attributes.empty() && function.attribute_defaults.empty();
  if (const auto known = shared_.find(&function); shareable && known != shared_.end()) {
    return known->second;
  }
  Graph body = bind_function(function, call);
  const Imports outer = imports_;
  std::map<std::string, std::int64_t> opsets = *outer.opsets;
  for (const auto& [domain, version] : function.opsets) opsets[domain] = version;
  imports_.opsets = &opsets;
  const bool nested = std::exchange(in_function_, true);
  Graph* const own = std::exchange(own_, &body);
  std::shared_ptr<const Plan> result = plan(body, nullptr);
  own_ = own;
  in_function_ = nested;
  imports_ = outer;
  if (shareable) shared_.emplace(&function, result);
  return result;
}

}  // namespace

std::string PlannedNode::label() const { return printable(display_name(node, position)); }

std::string PlannedNode::path_into(const PlannedSubgraph& subgraph) const {
  return label() + "/" + printable(subgraph.attribute) + "/";
}

std::string PlannedNode::path_into_function() const {
  return label() + "/" + printable(node.op) + "/";
}

const std::map<std::string, std::int64_t>& newest_opsets() {
  constexpr std::int64_t kNewest = 1 << 30;
  static const std::map<std::string, std::int64_t> kOpsets = {{"", kNewest},
                                                              {"ai.onnx.ml", kNewest},
                                                              {"ai.onnx.preview", kNewest},
                                                              {"ai.onnx.preview.training", kNewest},
                                                              {"assay", kNewest},
                                                              {"keras", kNewest}};
  return kOpsets;
}

std::unique_ptr<Plan> make_plan(const Graph& graph, const Imports& imports) {
  return Planner(imports).plan(graph, nullptr);
}

std::unique_ptr<Plan> plan_composed(Graph graph) { return plan_taking(graph, {&newest_opsets()}); }

std::unique_ptr<Plan> plan_taking(Graph& graph, const Imports& imports) {
  return Planner(imports, &graph).plan(graph, nullptr);
}

struct GrowingPlan::Parts {
  Planner planner;
  Scope scope{nullptr, NameIndex(NameIndex::Names::copied)};
};

GrowingPlan::GrowingPlan(const Imports& imports)
    : parts_(std::make_unique<Parts>(Parts{Planner(imports)})) {}
GrowingPlan::~GrowingPlan() = default;

int GrowingPlan::slot(const std::string& name) const { return parts_->scope.slots.find(name); }

int GrowingPlan::define(const std::string& name) {
  return assay::define(plan_, parts_->scope, name);
}

PlannedNode& GrowingPlan::append(const Node& node, PlannedNode planned) {
  if (plan_.nodes.empty()) first_ = &node;
  return plan_.nodes.emplace_back(std::move(planned));
}

const PlannedNode& GrowingPlan::add(const Node& node) {
  PlannedNode& planned = append(node, parts_->planner.begin(node));
  parts_->planner.plan_node(plan_.nodes.size() - 1, plan_, parts_->scope, planned);
  return planned;
}

const PlannedNode& GrowingPlan::add_alike(const Node& node, const Lookup& found, bool whole,
                                          std::span<const int> inputs) {
  PlannedNode& planned = append(
      node, whole
                ? PlannedNode(node, found)
                : PlannedNode(std::make_unique<const Node>(complete(node, *found.schema)), found));
  parts_->planner.number(planned, plan_.nodes.size() - 1);
  planned.inputs.reserve(inputs.size());
  for (const int slot : inputs) planned.inputs.push_back({0, slot});
  planned.outputs.reserve(node.outputs.size());
  for (const std::string& output : node.outputs)
    planned.outputs.push_back(output.empty() ? -1 : define(output));
  return planned;
}

std::vector<bool> GrowingPlan::read() const {
  std::vector<bool> result(plan_.names.size());
  for (const PlannedNode& node : plan_.nodes) {
    for (const SlotRef& input : node.inputs)
      if (input.slot >= 0) result[static_cast<std::size_t>(input.slot)] = true;
    std::set<int> captured;
    for (const PlannedSubgraph& inner : node.subgraphs) collect_captures(*inner.plan, 1, captured);
    for (const int slot : captured) result[static_cast<std::size_t>(slot)] = true;
  }
  return result;
}

std::shared_ptr<Plan> GrowingPlan::take(const Graph& graph, std::vector<std::string>& names) {
  const bool whole = graph.nodes.size() == plan_.nodes.size() && graph.nodes.data() == first_;
  auto plan = std::make_shared<Plan>(std::move(plan_));
  for (const NamedTensor& one : graph.initializers)
    plan->constants.emplace_back(slot(one.name), one.tensor);
  for (const NamedType& input : graph.inputs) plan->inputs.push_back(slot(input.name));
  for (const NamedType& output : graph.outputs) plan->outputs.push_back({0, slot(output.name)});
  mark_deaths(*plan);
  names.resize(plan->names.size());
  names.swap(plan->names);
  const auto name = [&](int of) {
    const auto place = static_cast<std::size_t>(of);
    if (of >= 0) plan->names[place] = names[place];
  };
  for (const auto& [of, tensor] : plan->constants) name(of);
  for (const int of : plan->inputs) name(of);
  return whole && graph.sparse_initializers.empty() ? plan : nullptr;
}

void for_each_node(const Plan& plan, const std::string& path,
                   const std::function<void(const std::string& path, const PlannedNode&)>& visit) {
  for (const PlannedNode& node : plan.nodes) {
    visit(path, node);
    if (node.function) for_each_node(*node.function, path + node.path_into_function(), visit);
    for (const PlannedSubgraph& inner : node.subgraphs) {
      for_each_node(*inner.plan, path + node.path_into(inner), visit);
    }
  }
}

}  // namespace assay

#include "semantics/infer_types.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "graph/names.h"
#include "semantics/fold.h"
#include "semantics/growing_plan.h"
#include "semantics/growing_types.h"
#include "semantics/merge_types.h"
#include "semantics/sample_types.h"
#include "semantics/type_memory.h"

namespace assay {
namespace {

constexpr std::size_t kMostJudged = 200'000;  // nodes in functions, which may unfold to any number

struct TypeScope {
  const Plan& plan;
  std::string path;
  const TypeScope* outer = nullptr;
  std::vector<Known> slots{};
  std::vector<const ValueType*> declared{};    // by slot; null: nothing is said
  Chunked<NamedValueType>* growing = nullptr;  // instead of slots: values that are told at the end

  Known& slot(std::size_t place) { return growing ? (*growing)[place].known : slots[place]; }
  const Known& slot(std::size_t place) const {
    return growing ? (*growing)[place].known : slots[place];
  }

  const Known& at(const SlotRef& ref) const {
    static const Known kAbsent;
    if (ref.slot < 0) return kAbsent;
    const TypeScope* scope = this;
    for (int i = 0; i < ref.depth; ++i) scope = scope->outer;
    return scope->slot(static_cast<std::size_t>(ref.slot));
  }
};

// What walking over one graph brings to light.
struct Log {
  Chunked<NamedValueType> values;
  std::vector<NodeRemarks> remarks;

  void append(Log&& other) {
    for (NamedValueType& value : other.values) values.push_back(std::move(value));
    std::move(other.remarks.begin(), other.remarks.end(), std::back_inserter(remarks));
  }
};

class TypeWalk : public SubgraphTypes {
 public:
  explicit TypeWalk(const TypeOptions& options) : options_(options) {}

  // `inputs` by position; those of which nothing is known count as what the graph declares.
  std::vector<Known> walk(const Plan& plan, std::span<const Known> inputs, const TypeScope* outer,
                          std::string path, Log& log);
  std::vector<ValueType> infer(const Graph& body, std::span<const ValueType> inputs) override;
  void define_outer(TypeScope& scope, int slot, Known known, Log& log);
  void judge(const PlannedNode& node, TypeScope& scope, Log& log);

 private:
  // A node whose entry is being asked, and what it asked of its bodies.
  struct Asking {
    const PlannedNode& node;
    const TypeScope& scope;
    std::map<const Plan*, Log> bodies{};
  };

  void enter(TypeScope& scope, std::span<const Known> inputs, Log& log);
  void define(TypeScope& scope, int slot, Known known, NodeRemarks& remarks, Log& log);
  std::vector<Known> outputs_of(const PlannedNode& node, const TypeScope& scope,
                                NodeRemarks& remarks, Log& log);
  std::vector<Known> function_outputs(const PlannedNode& node, std::span<const Known> inputs,
                                      const TypeScope& scope, Log& log);
  std::vector<Known> unknown_outputs(const PlannedNode& node, const Site& site,
                                     const TypeScope& scope, NodeRemarks& remarks, Log& log);
  std::vector<Known> ask_entry(const PlannedNode& node, const Site& site, const TypeScope& scope,
                               NodeRemarks& remarks, Log& log);
  void ask(const PlannedNode& node, const Site& site, std::vector<Known>& outputs);
  void walk_bodies(const PlannedNode& node, const TypeScope& scope,
                   std::map<const Plan*, Log> asked, Log& log);
  std::vector<Known> composed(const PlannedNode& node, const Site& site);

  const TypeOptions& options_;
  TypeMemory memory_;
  std::vector<Asking> asking_;
  std::size_t judged_ = 0;
  int functions_ = 0;  // of the file, around the node at hand
  int silent_ = 0;     // inside a composed operator, whose nodes are not the model's
};

bool worth_saying(const NodeRemarks& remarks) {
  return !remarks.violations.empty() || !remarks.undecided.empty() || remarks.unknown;
}

Known known_constant(const Tensor& tensor) {
  return {true, ValueType::tensor(tensor.type(), to_dims(tensor.shape())), tensor, {}};
}

std::vector<Known> TypeWalk::walk(const Plan& plan, std::span<const Known> inputs,
                                  const TypeScope* outer, std::string path, Log& log) {
  TypeScope scope{plan, std::move(path), outer};
  enter(scope, inputs, log);
  for (const PlannedNode& node : plan.nodes) judge(node, scope, log);
  std::vector<Known> outputs;
  outputs.reserve(plan.outputs.size());
  for (const SlotRef& output : plan.outputs) outputs.push_back(scope.at(output));
  return outputs;
}

void TypeWalk::enter(TypeScope& scope, std::span<const Known> inputs, Log& log) {
  const Plan& plan = scope.plan;
  scope.slots.resize(plan.names.size());
  scope.declared.resize(plan.names.size());
  for (const auto& [slot, type] : plan.declared) {
    if (slot >= 0) scope.declared[static_cast<std::size_t>(slot)] = &type;
  }
  std::set<int> constants;
  for (const auto& [slot, tensor] : plan.constants) {
    define_outer(scope, slot, known_constant(tensor), log);
    constants.insert(slot);
  }
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    const int slot = plan.inputs[i];
    if (slot < 0 || constants.contains(slot)) continue;
    Known known;
    if (i < inputs.size()) known = inputs[i];
    if (i < inputs.size() && !known.present) continue;  // an optional input that is not given
    define_outer(scope, slot, std::move(known), log);
  }
  // Sparse initialisers, and names that nothing defines: what is declared is all that is known.
  std::set<int> made(plan.inputs.begin(), plan.inputs.end());
  for (const PlannedNode& node : plan.nodes) made.insert(node.outputs.begin(), node.outputs.end());
  for (std::size_t slot = 0; slot < scope.slots.size(); ++slot) {
    if (made.contains(static_cast<int>(slot)) || scope.slots[slot].present) continue;
    scope.slots[slot].present = true;
    if (scope.declared[slot]) scope.slots[slot].type = *scope.declared[slot];
  }
}

// An input or an initialiser.
void TypeWalk::define_outer(TypeScope& scope, int slot, Known known, Log& log) {
  NodeRemarks remarks{
      scope.path + printable(scope.plan.names[static_cast<std::size_t>(slot)]), "", "", {}, {}};
  define(scope, slot, std::move(known), remarks, log);
  if (worth_saying(remarks)) log.remarks.push_back(std::move(remarks));
}

void TypeWalk::define(TypeScope& scope, int slot, Known known, NodeRemarks& remarks, Log& log) {
  const auto place = static_cast<std::size_t>(slot);
  const std::string& name = scope.plan.names[place];
  if (const ValueType* declared = scope.declared[place]) {
    auto contradiction =
        merge_declared(known.type, *declared, fmt::format("value {}", in_quotes(name)));
    if (contradiction) remarks.violations.push_back(*std::move(contradiction));
  }
  known.present = true;
  if (options_.keep_values && silent_ == 0 && !scope.growing) {
    log.values.push_back({scope.path + name, known});
  }
  scope.slot(place) = std::move(known);
}

void TypeWalk::judge(const PlannedNode& node, TypeScope& scope, Log& log) {
  if (functions_ > 0 && ++judged_ > kMostJudged) {
    if (judged_ == kMostJudged + 1) {
      const std::string limit = fmt::format("a walk over more than {} nodes", kMostJudged);
      log.remarks.push_back(
          {scope.path + node.label(), node.node.op, node.node.domain, {}, {{"Graph.size", limit}}});
    }
    return;
  }
  NodeRemarks remarks;
  Log inner;
  std::vector<Known> outputs = outputs_of(node, scope, remarks, inner);
  outputs.resize(node.outputs.size());
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] >= 0) define(scope, node.outputs[i], std::move(outputs[i]), remarks, log);
  }
  if (worth_saying(remarks) && silent_ == 0) {
    remarks.layer = scope.path + node.label();
    remarks.op = node.node.op;
    remarks.domain = node.node.domain;
    log.remarks.push_back(std::move(remarks));
  }
  log.append(std::move(inner));
}

// An entry is asked only once for nodes that do not differ.
std::vector<Known> TypeWalk::outputs_of(const PlannedNode& node, const TypeScope& scope,
                                        NodeRemarks& remarks, Log& log) {
  std::vector<const Known*> given;
  given.reserve(node.inputs.size());
  for (const SlotRef& input : node.inputs) given.push_back(&scope.at(input));
  const bool alike = node.found.entry && node.subgraphs.empty();
  std::string key = alike ? TypeMemory::key_of(node, given) : "";
  if (const TypeMemory::Said* said = key.empty() ? nullptr : memory_.find(key)) {
    remarks.undecided = said->undecided;
    return said->outputs;
  }
  Site site(node.node, node.found.schema ? node.found.schema->since_version : 0);
  site.inputs.reserve(given.size());
  for (const Known* input : given) site.inputs.push_back(*input);
  if (node.function) return function_outputs(node, site.inputs, scope, log);
  if (!node.found.entry) return unknown_outputs(node, site, scope, remarks, log);
  std::vector<Known> outputs = ask_entry(node, site, scope, remarks, log);
  if (!key.empty() && remarks.violations.empty())
    memory_.keep(std::move(key), {outputs, remarks.undecided});
  return outputs;
}

std::vector<Known> TypeWalk::function_outputs(const PlannedNode& node,
                                              std::span<const Known> inputs, const TypeScope& scope,
                                              Log& log) {
  ++functions_;
  std::vector<Known> outputs =
      walk(*node.function, inputs, nullptr, scope.path + node.path_into_function(), log);
  --functions_;
  return outputs;
}

std::vector<Known> TypeWalk::unknown_outputs(const PlannedNode& node, const Site& site,
                                             const TypeScope& scope, NodeRemarks& remarks,
                                             Log& log) {
  remarks.unknown = true;
  walk_bodies(node, scope, {}, log);
  std::vector<Known> outputs(node.outputs.size());
  if (!node.found.schema) return outputs;
  const std::vector<ValueType> types = types_from_schema(*node.found.schema, site);
  for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i].type = types[i];
  return outputs;
}

Violation overflow_violation(const PlannedNode& node, const ValueType& type) {
  return {"Shape Error",
          node.node.op + ".size",
          "a number of elements below 2^63",
          to_text(type),
          kShapeBadness,
          fmt::format("{} gives {}, which has too many elements", node.node.op, to_text(type))};
}

bool overflows(const ValueType& type) {
  const auto shape = type.is_tensor() && type.dims ? to_shape(*type.dims) : std::nullopt;
  return shape && !checked_element_count(*shape);
}

std::vector<Known> TypeWalk::ask_entry(const PlannedNode& node, const Site& site,
                                       const TypeScope& scope, NodeRemarks& remarks, Log& log) {
  const Schema& schema = *node.found.schema;
  Check check(site, schema);
  check_node(check, *node.found.entry, schema);
  remarks.violations = std::move(check.violations);
  remarks.undecided = std::move(check.open);
  std::vector<Known> outputs(node.outputs.size());
  const std::vector<ValueType> types = types_from_schema(schema, site);
  for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i].type = types[i];
  asking_.push_back({node, scope});
  if (remarks.violations.empty()) {
    try {
      ask(node, site, outputs);
    } catch (const EvaluationError& failure) {
      remarks.violations.push_back(
          {"Shape Error", failure.rule(), "", "", kShapeBadness, failure.what()});
    }
  }
  walk_bodies(node, scope, std::move(asking_.back().bodies), log);
  asking_.pop_back();
  for (Known& output : outputs) {
    if (!overflows(output.type)) continue;
    remarks.violations.push_back(overflow_violation(node, output.type));
    output.type.dims.reset();
  }
  if (remarks.violations.empty()) {
    if (auto violation = fold(node, site, outputs)) remarks.violations.push_back(*violation);
  }
  return outputs;
}

void TypeWalk::ask(const PlannedNode& node, const Site& site, std::vector<Known>& outputs) {
  if (!node.found.entry->infer) {
    if (!node.found.entry->meaning.composition) return;
    std::vector<Known> results = composed(node, site);
    for (std::size_t i = 0; i < outputs.size() && i < results.size(); ++i) {
      if (results[i].type.kind != ValueType::Kind::unknown) outputs[i] = std::move(results[i]);
    }
    return;
  }
  Infer inferred(site, this);
  node.found.entry->infer(inferred);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (inferred.outputs[i].kind != ValueType::Kind::unknown) {
      outputs[i].type = std::move(inferred.outputs[i]);
    }
    if (i < inferred.elements.size() && inferred.elements[i]) {
      set_elements(outputs[i], *inferred.elements[i]);
    }
  }
}

// Bodies that the entry asked for are told as they were last asked; if it asked for none, each is
// looked at with what it declares.
void TypeWalk::walk_bodies(const PlannedNode& node, const TypeScope& scope,
                           std::map<const Plan*, Log> asked, Log& log) {
  for (const PlannedSubgraph& body : node.subgraphs) {
    if (const auto told = asked.find(body.plan.get()); told != asked.end()) {
      log.append(std::move(told->second));
    } else if (asked.empty()) {
      walk(*body.plan, {}, &scope, scope.path + node.path_into(body), log);
    }
  }
}

std::vector<ValueType> TypeWalk::infer(const Graph& body, std::span<const ValueType> inputs) {
  ASSAY_CHECK(!asking_.empty());
  const PlannedNode& node = asking_.back().node;
  const TypeScope& scope = asking_.back().scope;
  const auto found = std::find_if(node.subgraphs.begin(), node.subgraphs.end(),
                                  [&](const PlannedSubgraph& one) { return one.graph == &body; });
  ASSAY_CHECK(found != node.subgraphs.end());
  std::vector<Known> known;
  for (const ValueType& type : inputs) known.push_back({true, type, {}, {}});
  Log log;
  const std::vector<Known> outputs =
      walk(*found->plan, known, &scope, scope.path + node.path_into(*found), log);
  asking_.back().bodies[found->plan.get()] = std::move(log);
  std::vector<ValueType> types;
  types.reserve(outputs.size());
  for (const Known& output : outputs) types.push_back(output.type);
  return types;
}

// An operator that is a graph of others, on concrete extents: where some are unknown, on several
// assignments of numbers to them.
std::vector<Known> TypeWalk::composed(const PlannedNode& node, const Site& site) {
  const auto once = [&](const Site& concrete) {
    Check check(concrete, *node.found.schema);
    check_node(check, *node.found.entry, *node.found.schema);
    if (!check.violations.empty()) {
      throw EvaluationError(check.violations.front().rule, check.violations.front().message);
    }
    const Graph graph = compose(node.found.entry->meaning.composition, concrete);
    const std::unique_ptr<Plan> plan = make_plan(graph, {&newest_opsets(), nullptr, true});
    Log ignored;
    return walk(*plan, concrete.inputs, nullptr, "", ignored);
  };
  ++silent_;
  std::vector<Known> result = sample_types(site, once);
  --silent_;
  return result;
}

NodeRemarks failed_inference(const EvaluationError& failure) {
  return {"", "", "", {{"Graph Error", failure.rule(), "", "", kRankBadness, failure.what()}}, {}};
}

std::vector<Known> main_inputs(const Model& model, const TypeOptions& options) {
  std::vector<Known> inputs;
  for (const NamedType& input : model.graph.inputs) {
    Known known{true, {}, {}, {}};
    if (const auto more = options.inputs.find(input.name); more != options.inputs.end()) {
      known.type = more->second;
    }
    inputs.push_back(std::move(known));
  }
  return inputs;
}

}  // namespace

ModelTypes infer_types(const Model& model, const TypeOptions& options) {
  ModelTypes result;
  Log log;
  try {
    const std::unique_ptr<Plan> plan = make_plan(model.graph, {&model.opsets, &model, true});
    result.outputs = TypeWalk(options).walk(*plan, main_inputs(model, options), nullptr, "", log);
  } catch (const EvaluationError& failure) {  // too deep, or too many nodes
    log.remarks.push_back(failed_inference(failure));
  }
  result.values = std::move(log.values);
  result.remarks = std::move(log.remarks);
  return result;
}

struct GrowingTypes::Parts {
  explicit Parts(const std::map<std::string, std::int64_t>& all)
      : opsets(all), plan({&opsets, nullptr, true}), walk(options), scope{plan.plan(), ""} {
    scope.growing = &values;
  }

  std::map<std::string, std::int64_t> opsets;
  TypeOptions options;
  GrowingPlan plan;
  TypeWalk walk;
  TypeScope scope;
  Chunked<NamedValueType> values;  // by slot; names are filled in at the end
  Log log;
  std::size_t inputs = 0, initializers = 0, nodes = 0;  // that were looked at
  bool failed = false;

  // A slot for what may have a type in the file.
  void define(const std::string& name, Known known, const ValueType* declared) {
    const int slot = plan.define(name);
    follow_plan();
    scope.declared[static_cast<std::size_t>(slot)] = declared;
    walk.define_outer(scope, slot, std::move(known), log);
    scope.declared[static_cast<std::size_t>(slot)] = nullptr;  // the graph moves when it grows
  }

  void add(const Node& node) {
    const std::size_t before = values.size();
    const PlannedNode& planned = plan.add(node);
    follow_plan();
    for (const SlotRef& input : planned.inputs) {
      if (input.slot >= static_cast<int>(before)) {
        values[static_cast<std::size_t>(input.slot)].known.present = true;
      }
    }
    walk.judge(planned, scope, log);
  }

  void follow_plan() {
    values.grow(plan.plan().names.size());
    scope.declared.resize(values.size());
  }
};

GrowingTypes::GrowingTypes(const std::map<std::string, std::int64_t>& opsets)
    : parts_(std::make_unique<Parts>(opsets)) {}
GrowingTypes::~GrowingTypes() = default;

void GrowingTypes::follow(const Graph& graph) {
  Parts& parts = *parts_;
  for (; parts.initializers < graph.initializers.size(); ++parts.initializers) {
    const NamedTensor& one = graph.initializers[parts.initializers];
    parts.define(one.name, known_constant(one.tensor), nullptr);
  }
  for (; parts.inputs < graph.inputs.size(); ++parts.inputs) {
    const NamedType& input = graph.inputs[parts.inputs];
    const int slot = parts.plan.slot(input.name);
    Known known{true, {}, {}, {}};
    if (slot >= 0) known = parts.values[static_cast<std::size_t>(slot)].known;
    parts.define(input.name, std::move(known), &input.type);
  }
  if (parts.nodes == 0) parts.plan.reserve(graph.nodes.capacity());
  try {
    while (parts.nodes < graph.nodes.size() && !parts.failed) {
      parts.add(graph.nodes[parts.nodes++]);
    }
  } catch (const EvaluationError& failure) {  // too deep, or too many nodes
    parts.failed = true;
    parts.log.remarks.push_back(failed_inference(failure));
  }
}

const Known* GrowingTypes::find(const std::string& name) const {
  const int slot = parts_->plan.slot(name);
  return slot < 0 ? nullptr : &parts_->values[static_cast<std::size_t>(slot)].known;
}

ModelTypes GrowingTypes::take(const Graph& graph) {
  follow(graph);
  Parts& parts = *parts_;
  ModelTypes result;
  for (const NamedType& output : graph.outputs) {
    const Known* known = find(output.name);
    result.outputs.push_back(known ? *known : Known{});
  }
  std::vector<std::string> names;
  result.plan = parts.plan.take(graph, names);
  result.planned = graph.nodes.data();
  for (std::size_t slot = 0; slot < parts.values.size(); ++slot)
    parts.values[slot].name = std::move(names[slot]);
  result.values = std::move(parts.values);
  for (NamedValueType& value : parts.log.values) result.values.push_back(std::move(value));
  result.remarks = std::move(parts.log.remarks);
  return result;
}

}  // namespace assay

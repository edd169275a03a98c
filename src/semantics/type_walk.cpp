#include "semantics/type_walk.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "graph/names.h"
#include "semantics/fold.h"
#include "semantics/merge_types.h"
#include "semantics/sample_types.h"

namespace assay {
namespace {

constexpr std::size_t kMostJudged = 200'000;  // nodes in functions, which may unfold to any number

bool worth_saying(const NodeRemarks& remarks) {
  return !remarks.violations.empty() || !remarks.undecided.empty() || remarks.unknown;
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

}  // namespace

Known known_constant(const Tensor& tensor) {
  return {true, ValueType::tensor(tensor.type(), to_dims(tensor.shape())), tensor, {}};
}

NodeRemarks failed_inference(const EvaluationError& failure) {
  return {"", "", "", {{"Graph Error", failure.rule(), "", "", kRankBadness, failure.what()}}, {}};
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
    log.values.push_back({scope.path + name, std::make_shared<const Known>(known)});
  }
  scope.set(place, std::move(known));
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

// An entry is asked only once for nodes that do not differ; of a graph that grows, they do.
std::vector<Known> TypeWalk::outputs_of(const PlannedNode& node, const TypeScope& scope,
                                        NodeRemarks& remarks, Log& log) {
  std::vector<const Known*> given;
  given.reserve(node.inputs.size());
  for (const SlotRef& input : node.inputs) given.push_back(&scope.at(input));
  const bool alike = node.found.entry && node.subgraphs.empty() && !scope.growing;
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

}  // namespace assay

#include "semantics/run.h"

#include <algorithm>

#include <fmt/format.h>

#include "patterns/recorded.h"
#include "semantics/composed_cache.h"
#include "semantics/plan_composed.h"

namespace assay {
namespace {

// Puts a value back when a scope is left.
template <class T>
class Restore {
 public:
  explicit Restore(T& place) : place_(place), saved_(place) {}
  ~Restore() { place_ = std::move(saved_); }
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;

 private:
  T& place_;
  T saved_;
};

bool has_unknown(std::span<const Value> values) {
  return std::any_of(values.begin(), values.end(),
                     [](const Value& value) { return value.kind() == Value::Kind::unknown; });
}

void set_type(const Value& value, ValueType& type) {
  if (!value.is_tensor()) {
    type = value.value_type();
    return;
  }
  if (!type.is_tensor()) type = ValueType::tensor(value.type());
  type.element = value.type();
  type.dims.emplace(value.shape().begin(), value.shape().end());
}

void set_site(Site& site, std::span<const Value> inputs) {
  site.inputs.resize(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    site.inputs[i].present = inputs[i].present();
    if (inputs[i].present()) set_type(inputs[i], site.inputs[i].type);
  }
  site.values = inputs;
}

// Checks the node and finds out the types of its outputs.
void learn(const PlannedNode& node, NodeMemory& memory, std::span<const Value> inputs) {
  set_site(memory.site, inputs);
  Check check(memory.site, *node.found.schema);
  if (!memory.proven) {
    check_node(check, *node.found.entry, *node.found.schema);
  } else if (node.found.entry->require) {
    node.found.entry->require(check);
  }
  if (!check.violations.empty()) {
    throw EvaluationError(check.violations.front().rule, check.violations.front().message);
  }
  if (node.found.entry->infer) {
    Infer infer(memory.site);
    node.found.entry->infer(infer);
    memory.types = std::move(infer.outputs);
  }
  memory.types.resize(node.node.outputs.size());
}

// Whether plain results may do. Those of long sums hardly ever do: nearly everybody adds up in
// another order.
bool may_be_plain(const PlannedNode& node, const Call& call) {
  return call.reading == Reading::bounded && node.subgraphs.empty() &&
         node.found.entry->meaning.pattern != Pattern::contraction &&
         std::all_of(call.inputs.begin(), call.inputs.end(), [](const Value& input) {
           return !input.present() || (input.is_tensor() && input.exact());
         });
}

}  // namespace

const Value& Run::Scope::at(const SlotRef& ref) const {
  static const Value kAbsent;
  if (ref.slot < 0) return kAbsent;
  const Scope* scope = this;
  for (int i = 0; i < ref.depth; ++i) scope = scope->outer;
  return scope->slots[static_cast<std::size_t>(ref.slot)];
}

std::vector<Value> Run::run(const Plan& plan, std::span<const Value> inputs) {
  return run_in(plan, inputs, nullptr);
}

namespace {

std::vector<Value> fresh_slots(const Plan& plan) {
  std::vector<Value> slots(plan.names.size());
  for (const auto& [slot, tensor] : plan.constants) slots[static_cast<std::size_t>(slot)] = tensor;
  return slots;
}

// Whether the value belongs to this run: it is neither an initialiser nor of a scope around it.
bool is_own(const Plan& plan, const SlotRef& ref) {
  return ref.depth == 0 && ref.slot >= 0 &&
         std::find(plan.kept.begin(), plan.kept.end(), ref.slot) != plan.kept.end();
}

// Whether an input stands in the place of an initialiser.
bool overrides(const Plan& plan, int slot) {
  return std::any_of(plan.constants.begin(), plan.constants.end(),
                     [&](const auto& constant) { return constant.first == slot; });
}

}  // namespace

std::vector<Value> Run::run_in(const Plan& plan, std::span<const Value> inputs,
                               const Scope* outer) {
  const bool remember = plan.id < memory_->slots.size();
  Scope scope{{}, outer, &plan};
  if (remember) scope.slots = std::move(memory_->slots[plan.id]);
  if (scope.slots.empty()) scope.slots = fresh_slots(plan);
  bool overridden = false;
  for (std::size_t i = 0; i < plan.inputs.size() && i < inputs.size(); ++i) {
    if (plan.inputs[i] < 0 || !inputs[i].present()) continue;
    Value& slot = scope.slots[static_cast<std::size_t>(plan.inputs[i])];
    overridden = overridden || (slot.present() && overrides(plan, plan.inputs[i]));
    slot = inputs[i];
  }
  const bool outermost = !outer && path_.empty() && silent_ == 0;
  for (const PlannedNode& node : plan.nodes) {
    if (outermost && options_.only && !(*options_.only)[node.position]) {
      pass_over(node, scope);
    } else {
      run_node(node, scope);
    }
  }
  std::vector<Value> outputs;
  outputs.reserve(plan.outputs.size());
  if (plan.outputs.size() == 1 && is_own(plan, plan.outputs.front())) {
    outputs.push_back(std::move(scope.slots[static_cast<std::size_t>(plan.outputs.front().slot)]));
  } else {
    for (const SlotRef& output : plan.outputs) outputs.push_back(scope.at(output));
  }
  if (!remember || overridden) return outputs;
  for (int slot : plan.kept) scope.slots[static_cast<std::size_t>(slot)] = Value();
  memory_->slots[plan.id] = std::move(scope.slots);
  return outputs;
}

void Run::note_failure(const PlannedNode& node) {
  if (failed_.empty() && silent_ == 0) failed_ = path_ + node.label() + steps_;
}

std::vector<Value>& Run::take_inputs(const PlannedNode& node, Scope& scope) {
  while (inputs_.size() <= running_.size()) inputs_.emplace_back();
  std::vector<Value>& inputs = inputs_[running_.size()];
  inputs.clear();
  inputs.reserve(node.inputs.size());
  for (const SlotRef& input : node.inputs) {
    if (input.last) {
      inputs.push_back(std::move(scope.slots[static_cast<std::size_t>(input.slot)]));
    } else {
      inputs.push_back(scope.at(input));
    }
  }
  return inputs;
}

std::vector<Value> Run::evaluate_here(const PlannedNode& node, const Scope& scope,
                                      std::span<const Value> inputs, bool* unknown) {
  running_.push_back({&node, &scope});
  ++node_count_;
  try {
    std::vector<Value> outputs = evaluate(node, inputs, unknown);
    running_.pop_back();
    return outputs;
  } catch (const InexactDecision&) {  // an answer, if not one of this node
    running_.pop_back();
    throw;
  } catch (...) {
    note_failure(node);
    throw;
  }
}

void Run::run_node(const PlannedNode& node, Scope& scope) {
  std::vector<Value>& inputs = take_inputs(node, scope);
  bool unknown = false;
  std::vector<Value> outputs = evaluate_here(node, scope, inputs, &unknown);
  if (silent_ == 0) {
    if (unknown && options_.recorded) substitute_recorded(node, outputs);
    if (options_.observe) options_.observe({node, path_, steps_, inputs, outputs, unknown});
    if (options_.impose && options_.recorded) substitute_recorded(node, outputs);
    if (options_.replace) {
      options_.replace({node, path_, steps_, inputs, outputs, unknown}, outputs);
    }
  }
  store(node, outputs, scope);
  inputs.clear();
}

void Run::pass_over(const PlannedNode& node, Scope& scope) const {
  std::vector<Value> outputs(node.node.outputs.size(), Value::unknown());
  if (options_.recorded) substitute_recorded(node, outputs);
  store(node, outputs, scope);
}

void Run::store(const PlannedNode& node, std::vector<Value>& outputs, Scope& scope) {
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] < 0) continue;
    scope.slots[static_cast<std::size_t>(node.outputs[i])] = std::move(outputs[i]);
  }
  for (int slot : node.dying) scope.slots[static_cast<std::size_t>(slot)] = Value();
}

std::vector<Value> Run::run_single(const PlannedNode& node, std::span<const Value> inputs,
                                   bool* unknown) {
  const Scope empty;
  running_.push_back({&node, &empty});
  bool ignored = false;
  try {
    return evaluate(node, inputs, unknown ? unknown : &ignored);
  } catch (...) {
    note_failure(node);
    throw;
  }
}

std::vector<Value> Run::run_rewritten(const PlannedNode& node, Composition rewrite,
                                      std::span<const Value> inputs) {
  NodeMemory memory(node);
  set_site(memory.site, inputs);
  try {
    const std::unique_ptr<Plan> plan = plan_composed(compose(rewrite, memory.site));
    RunMemory inner;
    return run_silently(*plan, inner, inputs);
  } catch (...) {
    note_failure(node);
    throw;
  }
}

std::vector<Value> Run::evaluate(const PlannedNode& node, std::span<const Value> inputs,
                                 bool* unknown) {
  if (node.function) return run_local_function(node, inputs);
  if (node.found.entry && !has_unknown(inputs)) return run_entry(node, inputs, unknown);
  *unknown = true;
  return std::vector<Value>(node.node.outputs.size(), Value::unknown());
}

std::vector<Value> Run::run_local_function(const PlannedNode& node, std::span<const Value> inputs) {
  const Restore<std::string> outer(path_);
  path_ += node.path_into_function();
  std::vector<Value> outputs = run_in(*node.function, inputs, nullptr);
  outputs.resize(node.node.outputs.size());
  return outputs;
}

std::vector<Value> Run::run_entry(const PlannedNode& node, std::span<const Value> inputs,
                                  bool* unknown) {
  const bool remember = node.id < memory_->nodes.size();
  RunMemory& memory = *memory_;
  if (remember && memory.nodes[node.id]) {
    NodeMemory& kept = *memory.nodes[node.id];
    if (memory.settled || holds_for(kept, options_.reading, inputs)) {
      kept.site.values = inputs;
      return perform(node, kept, inputs, unknown);
    }
    memory.nodes[node.id].reset();
  }
  const bool composed = node.found.entry->meaning.composition != nullptr;
  ComposedKey key = composed ? ComposedKey(node, options_.reading, inputs) : ComposedKey();
  ComposedCache& cache = ComposedCache::of_this_thread();
  if (!key.empty()) {
    if (const auto kept = cache.find(key)) {
      std::vector<Value> outputs = run_silently(*kept->plan, *kept->memory, inputs);
      *unknown = has_unknown(outputs);
      return outputs;
    }
  }
  NodeMemory fresh(node);
  if (!spare_.empty()) {
    fresh.site.inputs.swap(spare_.back());
    spare_.pop_back();
  }
  // Remembering costs; most nodes of most models are evaluated once.
  const bool seen = remember && std::exchange(memory.seen[node.id], 1) != 0;
  fresh.lasting = seen || (!key.empty() && cache.comes_again(key.hash));
  ComposedPlans& plans = ComposedPlans::shared();
  if (!key.empty()) fresh.composed = plans.find(key, inputs);
  const bool planned = fresh.composed != nullptr;
  fresh.proven = planned || memory.proven;
  learn(node, fresh, inputs);
  std::vector<Value> outputs = perform(node, fresh, inputs, unknown);
  if (!key.empty() && fresh.site.elements_read() == 0) {
    if (!planned) plans.keep(key, inputs, fresh.site.shapes_read(), fresh.composed);
    if (fresh.lasting) cache.keep(std::move(key), {fresh.composed, std::move(fresh.inner)});
  } else if (seen && keep_inputs(fresh, options_.reading, inputs)) {
    memory.nodes[node.id] = std::make_unique<NodeMemory>(std::move(fresh));
    return outputs;
  }
  spare_.push_back(std::move(fresh.site.inputs));
  return outputs;
}

// Whether the call is answered with plain results. A function that somebody approximates in their
// own way is never met to the last bit, so that few are tried.
bool Run::plain_suffices(const PlannedNode& node, Call& call) {
  constexpr int kTries = 2;
  if (silent_ > 0 || !options_.suffices || !may_be_plain(node, call)) return false;
  int& in_vain = in_vain_[node.found.entry];
  if (in_vain >= kTries) return false;
  call.reading = Reading::value;
  node.found.entry->meaning.evaluate(call);
  call.reading = Reading::bounded;
  const bool suffices =
      options_.suffices({node, path_, steps_, call.inputs, call.outputs, call.unknown});
  in_vain = suffices ? 0 : in_vain + 1;
  if (suffices) return true;
  call.outputs.assign(call.outputs.size(), Value());
  call.unknown = false;
  return false;
}

std::vector<Value> Run::perform(const PlannedNode& node, NodeMemory& memory,
                                std::span<const Value> inputs, bool* unknown) {
  const Meaning& meaning = node.found.entry->meaning;
  if (meaning.composition) {
    std::vector<Value> outputs = run_composed(node, memory, inputs);
    *unknown = has_unknown(outputs);
    return outputs;
  }
  Call call{memory.site, options_.reading, inputs, std::move(memory.types), {}, *this};
  call.outputs.resize(node.node.outputs.size());
  if (memory.lasting) call.kept = &memory.kept;
  const bool stepwise = meaning.pattern == Pattern::prefix && options_.impose;
  const RecordedScope steps(stepwise ? find_recorded(node) : std::vector<const Tensor*>());
  if (!plain_suffices(node, call)) meaning.evaluate(call);
  memory.types = std::move(call.types);
  *unknown = call.unknown;
  return std::move(call.outputs);
}

std::vector<Value> Run::run_composed(const PlannedNode& node, NodeMemory& memory,
                                     std::span<const Value> inputs) {
  if (!memory.composed) {
    memory.site.forget_shapes();
    memory.composed = plan_composed(compose(node.found.entry->meaning.composition, memory.site));
    memory.proven = false;  // of the nodes in it nothing is known yet
  }
  if (!memory.inner) {
    // A graph with others inside may run these many times.
    const bool used = memory.lasting || memory.composed->plan_count > 1;
    memory.inner =
        used ? std::make_unique<RunMemory>(*memory.composed) : std::make_unique<RunMemory>();
    if (memory.lasting) memory.inner->expect_more();
    memory.inner->proven = memory.proven && memory.composed->plan_count == 1;
  }
  return run_silently(*memory.composed, *memory.inner, inputs);
}

std::vector<Value> Run::run_silently(const Plan& plan, RunMemory& memory,
                                     std::span<const Value> inputs) {
  const Restore<RunMemory*> outer(memory_);
  const Restore<int> loud(silent_);
  memory_ = &memory;
  ++silent_;
  return run_in(plan, inputs, nullptr);
}

std::vector<Value> Run::run_function(const Call&, const Graph& body,
                                     std::span<const Value> inputs) {
  const std::unique_ptr<Plan> plan = make_plan(body, {&newest_opsets()});
  RunMemory memory(*plan);
  return run_silently(*plan, memory, inputs);
}

std::vector<Value> Run::run_subgraph(const Call&, const Graph& body, std::span<const Value> inputs,
                                     std::int64_t step) {
  const Running running = running_.back();
  const auto& subgraphs = running.node->subgraphs;
  const auto found = std::find_if(subgraphs.begin(), subgraphs.end(),
                                  [&](const PlannedSubgraph& one) { return one.graph == &body; });
  ASSAY_CHECK(found != subgraphs.end());
  const Restore<std::string> outer_path(path_), outer_steps(steps_);
  path_ += running.node->path_into(*found);
  if (step >= 0) steps_ += fmt::format("#{}", step);
  return run_in(*found->plan, inputs, running.scope);
}

Graph Run::surroundings() const {
  Graph graph;
  const Plan* plan = running_.back().scope->plan;
  if (!plan) return graph;
  for (const auto& [slot, tensor] : plan->constants) {
    graph.initializers.push_back({plan->names[static_cast<std::size_t>(slot)], tensor, {}, {}});
  }
  for (const PlannedNode& node : plan->nodes) {
    if (&node == running_.back().node) break;
    graph.nodes.push_back(node.node);
    if (node.found.schema) graph.nodes.back().version = node.found.schema->since_version;
  }
  return graph;
}

std::vector<const Tensor*> Run::find_recorded(const PlannedNode& node) const {
  std::vector<const Tensor*> found;
  if (!options_.recorded || silent_ > 0) return found;
  for (const std::string& output : node.node.outputs) {
    const auto place = options_.recorded->find(path_ + output + steps_);
    found.push_back(place == options_.recorded->end() ? nullptr : &place->second);
  }
  return found;
}

void Run::substitute_recorded(const PlannedNode& node, std::vector<Value>& outputs) const {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto found = options_.recorded->find(path_ + node.node.outputs[i] + steps_);
    if (found != options_.recorded->end()) outputs[i] = found->second;
  }
}

}  // namespace assay

#include "semantics/evaluator.h"

#include <fmt/format.h>

#include <algorithm>

namespace assay {
namespace {

constexpr std::int64_t kNewest = 1 << 30;

const std::map<std::string, std::int64_t>& newest_opsets() {
  static const std::map<std::string, std::int64_t> kOpsets = {
      {"", kNewest}, {"ai.onnx.ml", kNewest}, {"ai.onnx.preview", kNewest},
      {"ai.onnx.preview.training", kNewest}, {"assay", kNewest}};
  return kOpsets;
}

// Values of the slots of a running plan, and of the scopes around it.
struct Scope {
  std::vector<Value> slots;
  const Scope* outer = nullptr;
  const Plan* plan = nullptr;  // that runs in it

  const Value& at(const SlotRef& ref) const {
    static const Value kAbsent;
    if (ref.slot < 0) return kAbsent;
    const Scope* scope = this;
    for (int i = 0; i < ref.depth; ++i) scope = scope->outer;
    return scope->slots[static_cast<std::size_t>(ref.slot)];
  }
};

Site make_site(const PlannedNode& node, std::span<const Value> inputs) {
  Site site(node.node, node.found.schema->since_version);
  site.inputs.reserve(inputs.size());
  for (const Value& value : inputs) {
    Known known;
    known.present = value.present();
    if (known.present) known.type = value.value_type();
    if (value.is_tensor() && value.exact()) known.constant = value.tensor();
    site.inputs.push_back(std::move(known));
  }
  return site;
}

class Run : public GraphEvaluator {
 public:
  explicit Run(const EvaluateOptions& options) : options_(options) {}

  std::vector<Value> run(const Plan& plan, std::span<const Value> inputs, const Scope* outer) {
    Scope scope{std::vector<Value>(plan.names.size()), outer, &plan};
    for (const auto& [slot, tensor] : plan.constants)
      scope.slots[static_cast<std::size_t>(slot)] = tensor;
    for (std::size_t i = 0; i < plan.inputs.size() && i < inputs.size(); ++i)
      if (plan.inputs[i] >= 0 && inputs[i].present())
        scope.slots[static_cast<std::size_t>(plan.inputs[i])] = inputs[i];
    for (const PlannedNode& node : plan.nodes) run_node(node, scope);
    std::vector<Value> outputs;
    for (const SlotRef& output : plan.outputs) outputs.push_back(scope.at(output));
    return outputs;
  }

  std::vector<Value> run_subgraph(const Call& caller, const Graph& body,
                                  std::span<const Value> inputs, std::int64_t step) override {
    const PlannedNode& node = *running_.back().node;
    const Plan& plan = *node.subgraphs.at(&body);
    const std::string saved_path = path_;
    const std::int64_t saved_step = step_;
    path_ += node.label + "/" + attribute_of(caller.node(), body) + "/";
    if (step >= 0) step_ = step;
    const Scope* scope = running_.back().scope;
    std::vector<Value> result = run(plan, inputs, scope);
    path_ = saved_path;
    step_ = saved_step;
    return result;
  }

  std::vector<Value> run_function(const Call&, const Graph& body,
                                  std::span<const Value> inputs) override {
    // Nodes inside a composed operator are not the model's: nobody observes them.
    ++silent_;
    const std::unique_ptr<Plan> plan = make_plan(body, {&newest_opsets()});
    std::vector<Value> result = run(*plan, inputs, nullptr);
    --silent_;
    return result;
  }

  Graph surroundings() const override {
    Graph graph;
    const Plan* plan = running_.back().scope->plan;
    if (!plan) return graph;
    for (const auto& [slot, tensor] : plan->constants)
      graph.initializers.push_back({plan->names[static_cast<std::size_t>(slot)], tensor, {}, {}});
    for (const PlannedNode& node : plan->nodes) {
      if (&node == running_.back().node) break;
      graph.nodes.push_back(node.node);
      if (node.found.schema) graph.nodes.back().version = node.found.schema->since_version;
    }
    return graph;
  }

  std::uint64_t seed() const override { return options_.seed + node_count_; }

  // Where the running node stands, for messages.
  std::string where() const {
    return running_.empty() ? std::string() : path_ + running_.front().node->label;
  }

  std::vector<Value> run_single(const PlannedNode& node, std::span<const Value> inputs,
                                bool* unknown) {
    const Scope empty;
    running_.push_back({&node, &empty});
    bool ignored = false;
    return evaluate(node, inputs, unknown ? unknown : &ignored);
  }

 private:
  struct Running {
    const PlannedNode* node;
    const Scope* scope;
  };

  static std::string attribute_of(const Node& node, const Graph& body) {
    for (const Attribute& attribute : node.attributes)
      if (const auto* graph = std::get_if<std::shared_ptr<const Graph>>(&attribute.value))
        if (graph->get() == &body) return attribute.name;
    return body.name;
  }

  std::vector<Value> evaluate(const PlannedNode& node, std::span<const Value> inputs, bool* unknown);

  void run_node(const PlannedNode& node, Scope& scope) {
    std::vector<Value> inputs;
    inputs.reserve(node.inputs.size());
    for (const SlotRef& input : node.inputs) inputs.push_back(scope.at(input));
    running_.push_back({&node, &scope});
    ++node_count_;
    bool unknown = false;
    std::vector<Value> outputs = evaluate(node, inputs, &unknown);
    if (unknown && options_.recorded && !silent_) substitute_recorded(node, outputs);
    if (options_.observe && !silent_)
      options_.observe({node, path_, step_, inputs, outputs, unknown});
    inputs.clear();
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] >= 0)
        scope.slots[static_cast<std::size_t>(node.outputs[i])] = std::move(outputs[i]);
    for (int slot : node.dying) scope.slots[static_cast<std::size_t>(slot)] = Value();
    running_.pop_back();
  }

  void substitute_recorded(const PlannedNode& node, std::vector<Value>& outputs) const {
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (const auto found = options_.recorded->find(node.node.outputs[i]);
          found != options_.recorded->end())
        outputs[i] = found->second;
  }

  const EvaluateOptions& options_;
  std::vector<Running> running_;
  std::string path_;
  std::int64_t step_ = -1;
  std::uint64_t node_count_ = 0;
  int silent_ = 0;
};

std::vector<Value> Run::evaluate(const PlannedNode& node, std::span<const Value> inputs,
                                 bool* unknown) {
  const std::size_t outputs = node.node.outputs.size();
  if (node.function) {
    std::vector<Value> results = run(*node.function, inputs, nullptr);
    results.resize(outputs);
    return results;
  }
  const bool blind = std::any_of(inputs.begin(), inputs.end(), [](const Value& value) {
    return value.kind() == Value::Kind::unknown;
  });
  if (!node.found.entry || blind) {
    *unknown = true;
    return std::vector<Value>(outputs, Value::unknown());
  }
  const Site site = make_site(node, inputs);
  Check check(site, *node.found.schema);
  check_node(check, *node.found.entry, *node.found.schema);
  if (!check.violations.empty())
    throw EvaluationError(check.violations.front().rule, check.violations.front().message);
  Call call{site, options_.reading, inputs, {}, {}, *this};
  if (node.found.entry->infer) {
    Infer infer(site);
    node.found.entry->infer(infer);
    call.types = std::move(infer.outputs);
  }
  call.types.resize(outputs);
  call.outputs.resize(outputs);
  node.found.entry->meaning.evaluate(call);
  *unknown = call.unknown;
  return std::move(call.outputs);
}

Error to_error(const std::string& where, const std::exception& failure, std::string kind) {
  return {std::move(kind), where.empty() ? failure.what() : fmt::format("{}: {}", where, failure.what()),
          where};
}

// Runs `body`, turning what a model can cause into an Error that names the node.
template <class Body>
Result<std::vector<Value>> guarded(const Run& run, Body&& body) {
  try {
    return body();
  } catch (const EvaluationError& failure) {
    return Error{"invalid", fmt::format("{}: {} ({})", run.where(), failure.what(), failure.rule()),
                 run.where()};
  } catch (const MemoryLimitError& failure) {
    return to_error(run.where(), failure, "limit");
  } catch (const std::bad_alloc&) {
    return Error{"limit", run.where() + ": out of memory", run.where()};
  } catch (const std::length_error&) {
    return Error{"limit", run.where() + ": a size exceeds what memory can hold", run.where()};
  } catch (const Defect& failure) {
    throw Defect(fmt::format("{}: {}", run.where(), failure.what()));
  }
}

}  // namespace

Evaluator::~Evaluator() = default;

Result<std::unique_ptr<Evaluator>> Evaluator::make(std::shared_ptr<const Model> model) {
  std::unique_ptr<Evaluator> result(new Evaluator);
  try {
    result->plan_ = make_plan(model->graph, {&model->opsets, model.get()});
  } catch (const EvaluationError& failure) {
    return Error{"invalid", failure.what(), {}};
  }
  result->model_ = std::move(model);
  return result;
}

Result<std::vector<Value>> Evaluator::run(std::span<const Value> inputs,
                                          const EvaluateOptions& options) const {
  Run run(options);
  return guarded(run, [&] { return run.run(*plan_, inputs, nullptr); });
}

Result<std::vector<Value>> evaluate_node(const Node& node, int opset, std::span<const Value> inputs,
                                         Reading reading, Composition rewrite, std::uint64_t seed,
                                         bool* unknown) {
  EvaluateOptions options;
  options.reading = reading;
  options.seed = seed;
  Run run(options);
  Graph graph;
  for (const std::string& input : node.inputs) graph.inputs.push_back({input, {}, {}, {}});
  graph.nodes.push_back(node);
  std::map<std::string, std::int64_t> opsets = newest_opsets();
  opsets[node.domain] = opset;
  const std::unique_ptr<Plan> plan = make_plan(graph, {&opsets});
  const PlannedNode& planned = plan->nodes.front();
  if (!planned.found.entry)
    return Error{"unsupported", fmt::format("{} is not in the catalogue", node.op), node.op};
  return guarded(run, [&] {
    if (!rewrite) return run.run_single(planned, inputs, unknown);
    const Site site = make_site(planned, inputs);
    const Call call{site, reading, inputs, {}, {}, run};
    return run.run_function(call, compose(rewrite, site), inputs);
  });
}

}  // namespace assay

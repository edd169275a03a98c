#include "semantics/evaluator.h"

#include <fmt/format.h>

#include "semantics/plan_composed.h"
#include "semantics/run.h"

namespace assay {
namespace {

// Runs `body`, turning what a model can cause into an Error that names the node.
template <class Body>
Result<std::vector<Value>> guarded(const Run& run, Body&& body) {
  const auto error = [&](const char* kind, const std::string& reason) {
    const std::string& where = run.where();
    return Error{kind, where.empty() ? reason : fmt::format("{}: {}", where, reason), where};
  };
  try {
    return body();
  } catch (const EvaluationError& failure) {
    return error("invalid", fmt::format("{} ({})", failure.what(), failure.rule()));
  } catch (const MemoryLimitError& failure) {
    return error("limit", failure.what());
  } catch (const std::bad_alloc&) {
    return error("limit", "out of memory");
  } catch (const std::length_error&) {
    return error("limit", "a size exceeds what memory can hold");
  } catch (const Defect& failure) {
    throw Defect(fmt::format("{}: {}", run.where(), failure.what()));
  }
}

}  // namespace

Evaluator::Evaluator() = default;
Evaluator::~Evaluator() = default;

template <class MakePlan>
Result<std::unique_ptr<Evaluator>> Evaluator::make_with(std::shared_ptr<const Model> model,
                                                        MakePlan&& make_plan) {
  std::unique_ptr<Evaluator> result(new Evaluator);
  try {
    result->plan_ = make_plan({&model->opsets, model.get()});
  } catch (const EvaluationError& failure) {
    return Error{"invalid", failure.what(), {}};
  } catch (const MemoryLimitError& failure) {
    return Error{"limit", failure.what(), {}};
  }
  result->model_ = std::move(model);
  return result;
}

Result<std::unique_ptr<Evaluator>> Evaluator::make(std::shared_ptr<const Model> model) {
  const Graph& graph = model->graph;
  return make_with(std::move(model),
                   [&](const Imports& imports) { return make_plan(graph, imports); });
}

Result<std::unique_ptr<Evaluator>> Evaluator::make_taking(Model model) {
  auto own = std::make_shared<Model>(std::move(model));
  Graph& graph = own->graph;
  return make_with(std::move(own),
                   [&](const Imports& imports) { return plan_taking(graph, imports); });
}

Result<std::vector<Value>> Evaluator::run(std::span<const Value> inputs,
                                          const EvaluateOptions& options) const {
  std::unique_ptr<RunMemory> memory;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      memory = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!memory) memory = std::make_unique<RunMemory>(*plan_);
  Run run(options, *memory);
  Result<std::vector<Value>> result = guarded(run, [&] { return run.run(*plan_, inputs); });
  if (result) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(memory));
  }
  return result;
}

Result<std::vector<Value>> evaluate_alone(const PlannedNode& node, std::span<const Value> inputs,
                                          const EvaluateOptions& options) {
  RunMemory memory;
  Run run(options, memory);
  return guarded(run, [&] { return run.run_single(node, inputs); });
}

std::vector<Value> evaluate_planned(const PlannedNode& node, std::span<const Value> inputs,
                                    const EvaluateOptions& options) {
  RunMemory memory;
  return Run(options, memory).run_single(node, inputs);
}

Result<std::vector<Value>> evaluate_node(const Node& node, int opset, std::span<const Value> inputs,
                                         Reading reading, Composition rewrite, std::uint64_t seed,
                                         bool* unknown) {
  EvaluateOptions options;
  options.reading = reading;
  options.seed = seed;
  Graph graph;
  for (const std::string& input : node.inputs) graph.inputs.push_back({input, {}, {}, {}});
  graph.nodes.push_back(node);
  std::map<std::string, std::int64_t> opsets = newest_opsets();
  opsets[node.domain] = opset;
  std::unique_ptr<Plan> plan;
  try {
    plan = make_plan(graph, {&opsets});
  } catch (const EvaluationError& failure) {  // a subgraph that reads values around the node
    return Error{"invalid", failure.what(), node.op};
  }
  const PlannedNode& planned = plan->nodes.front();
  if (!planned.found.entry) {
    return Error{"unsupported", fmt::format("{} is not in the catalogue", node.op), node.op};
  }
  RunMemory memory;
  Run run(options, memory);
  return guarded(run, [&] {
    return rewrite ? run.run_rewritten(planned, rewrite, inputs)
                   : run.run_single(planned, inputs, unknown);
  });
}

}  // namespace assay

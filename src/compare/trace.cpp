#include "compare/trace.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "compare/judge.h"

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool makes_constant(const PlannedNode& node) {
  return node.inputs.empty() && node.subgraphs.empty() && !node.function && node.found.entry &&
         node.found.entry->meaning.pattern != Pattern::random;
}

class WeightList {
 public:
  explicit WeightList(const Evaluator& evaluator) {
    add_initializers("", evaluator.model().graph);
    for_each_node(evaluator.plan(), "", [&](const std::string& path, const PlannedNode& node) {
      for (const PlannedSubgraph& inner : node.subgraphs) {
        add_initializers(path + node.path_into(inner), *inner.graph);
      }
      if (makes_constant(node)) add_constant(path, node);
    });
  }
  std::vector<Weight> take() { return std::move(weights_); }

 private:
  void add_initializers(const std::string& path, const Graph& graph) {
    for (const NamedTensor& one : graph.initializers) add(path + one.name, one.tensor);
    for (const auto& [name, sparse] : graph.sparse_initializers) add(path + name, sparse.values);
  }
  void add_constant(const std::string& path, const PlannedNode& node) {
    const Result<std::vector<Value>> made = evaluate_node(
        node.node, static_cast<int>(node.found.schema->since_version), {}, Reading::value);
    if (made && made->size() == 1 && made->front().is_tensor()) {
      add(path + node.node.outputs.front(), made->front().tensor());
    }
  }
  void add(std::string name, Tensor tensor) {
    weights_.push_back({std::move(name), std::move(tensor)});
  }
  std::vector<Weight> weights_;
};

// Follows names from the node that uses them to what was made under them.
class Recorder {
 public:
  explicit Recorder(Trace& trace) : trace_(&trace) {
    for (std::size_t i = 0; i < trace.weights.size(); ++i) weights_[trace.weights[i].name] = i;
  }

  void observe(const Evaluated& evaluated) {
    const Node& node = evaluated.node.node;
    InnerValue made;
    made.layer = evaluated.layer();
    made.op = node.op;
    made.constant = evaluated.node.subgraphs.empty() && !node.inputs.empty() &&
                    !(evaluated.node.found.entry &&
                      evaluated.node.found.entry->meaning.pattern == Pattern::random);
    for (const std::string& input : node.inputs) {
      if (!input.empty()) add_read(evaluated.path, input, made);
    }
    for (std::size_t i = 0; i < evaluated.outputs.size() && i < node.outputs.size(); ++i) {
      if (node.outputs[i].empty() || !evaluated.outputs[i].is_tensor()) continue;
      if (weights_.contains(evaluated.path + node.outputs[i])) continue;
      add(evaluated, i, made);
    }
  }

  // How far the drawn value lies from the exact one.
  void widen(const Evaluated& evaluated, std::span<const Value> drawn) {
    for (std::size_t i = 0; i < drawn.size() && i < evaluated.node.node.outputs.size(); ++i) {
      const auto known = exact_.find(evaluated.name(i));
      if (known == exact_.end() || !drawn[i].is_tensor()) continue;
      InnerValue& value = trace_->values[known->second];
      value.allowance = std::max(value.allowance, distance(value.tensor, drawn[i].tensor()));
    }
  }

 private:
  static double distance(const Tensor& exact, const Tensor& drawn) {
    if (!has_numbers(exact.type())) return 0;
    if (exact.shape() != drawn.shape()) return kInfinity;
    const std::vector<double> first = exact.reals(), second = drawn.reals();
    double largest = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (first[i] == second[i] || (std::isnan(first[i]) && std::isnan(second[i]))) continue;
      const double apart = std::abs(first[i] - second[i]);
      if (!is_real(exact.type()) || std::isnan(apart)) return kInfinity;
      largest = std::max(largest, kSpreadSafety * apart);
    }
    return largest;
  }

  static bool carries(const Tensor& later, const Tensor& earlier) {
    return later.shape() == earlier.shape() && later.type() == earlier.type();
  }

  // The innermost graph around the node that knows the name.
  static std::optional<std::size_t> find(const std::map<std::string, std::size_t>& names,
                                         std::string path, const std::string& name) {
    for (;;) {
      if (const auto found = names.find(path + name); found != names.end()) return found->second;
      if (path.empty()) return std::nullopt;
      const auto cut = path.size() < 2 ? std::string::npos : path.rfind('/', path.size() - 2);
      path.resize(cut == std::string::npos ? 0 : cut + 1);
    }
  }

  void add_read(const std::string& path, const std::string& input, InnerValue& made) {
    if (const auto weight = find(weights_, path, input)) {
      trace_->weights[*weight].used = true;
      made.weights.push_back(*weight);
    } else if (const auto value = find(latest_, path, input)) {
      made.values.push_back(*value);
      made.constant = made.constant && trace_->values[*value].constant;
    } else {
      made.constant = false;
    }
  }

  void add(const Evaluated& evaluated, std::size_t output, InnerValue made) {
    made.name = evaluated.name(output);
    made.tensor = evaluated.outputs[output].tensor();
    const std::string plain = evaluated.path + evaluated.node.node.outputs[output];
    const auto owner = owners_.find(made.tensor.raw());
    if (owner != owners_.end() && carries(made.tensor, trace_->values[owner->second].tensor)) {
      latest_[plain] = owner->second;
      return;
    }
    if (made.tensor.size() > 0) owners_[made.tensor.raw()] = trace_->values.size();
    latest_[plain] = exact_[made.name] = trace_->values.size();
    trace_->values.push_back(std::move(made));
  }

  Trace* trace_;
  std::map<std::string, std::size_t> weights_;
  std::map<std::string, std::size_t> latest_;  // by name without the iteration
  std::map<std::string, std::size_t> exact_;   // by whole name
  std::map<const void*, std::size_t> owners_;  // by where the elements lie
};

Answer ask(const Traced& traced, bool hidden) {
  Job job{traced.source};
  job.hidden = hidden;
  job.inputs = named_inputs(traced.model->graph, traced.inputs);
  return traced.backend->run(job);
}

void take_outputs(const Answer& answer, std::vector<TracedOutput>& outputs) {
  for (TracedOutput& output : outputs) {
    const Value* found = answer.find(output.name);
    output.value = found ? *found : Value();
  }
}

// What the backend does not show is not compared: the reference's value would hide what it did.
void take_values(const Answer& answer, Trace& trace) {
  std::map<std::string, const Value*> shown;
  for (const auto* list : {&answer.values, &answer.hidden}) {
    for (const auto& [name, value] : *list) shown[name] = &value;
  }
  for (InnerValue& value : trace.values) {
    const auto found = shown.find(value.name);
    const bool usable = found != shown.end() && found->second->is_tensor();
    value.tensor = usable ? found->second->tensor() : Tensor();
  }
}

// With the profile of whoever runs the model, while it lasts.
Result<std::vector<TracedOutput>> spread_outputs(const Traced& traced, const Evaluator& evaluator,
                                                 std::uint64_t seed, const SpreadObserver& seen) {
  const ArithmeticScope scope(traced.backend ? profile_of(*traced.backend) : nullptr);
  Result<std::vector<Spread>> spreads = rounding_spread(evaluator, traced.inputs, seed, seen);
  if (!spreads) return spreads.error();
  std::vector<TracedOutput> outputs;
  for (std::size_t i = 0; i < spreads->size(); ++i) {
    const Value value = (*spreads)[i].value;
    outputs.push_back({traced.model->graph.outputs[i].name, value, std::move((*spreads)[i])});
  }
  return outputs;
}

}  // namespace

Result<Trace> trace(const Traced& traced, std::uint64_t seed) {
  const Result<std::unique_ptr<Evaluator>> evaluator = Evaluator::make(traced.model);
  if (!evaluator) return evaluator.error();
  Trace trace;
  trace.weights = WeightList(**evaluator).take();
  Recorder recorder(trace);
  SpreadObserver seen;
  seen.exact = [&](const Evaluated& evaluated) { recorder.observe(evaluated); };
  seen.drawn = [&](const Evaluated& evaluated, std::span<const Value> drawn) {
    recorder.widen(evaluated, drawn);
  };
  Result<std::vector<TracedOutput>> outputs = spread_outputs(traced, **evaluator, seed, seen);
  if (!outputs) return outputs.error();
  trace.outputs = *std::move(outputs);
  if (!traced.backend) return trace;
  Answer plain = ask(traced, false);
  if (plain.ok()) take_outputs(plain, trace.outputs);
  Answer watched = plain.ok() ? ask(traced, true) : std::move(plain);
  if (watched.ok()) {
    take_values(watched, trace);
  } else {
    trace.refusal = std::move(watched);
  }
  return trace;
}

Result<std::vector<TracedOutput>> trace_outputs(const Traced& traced, std::uint64_t seed) {
  const Result<std::unique_ptr<Evaluator>> evaluator = Evaluator::make(traced.model);
  if (!evaluator) return evaluator.error();
  Result<std::vector<TracedOutput>> outputs = spread_outputs(traced, **evaluator, seed, {});
  if (!outputs || !traced.backend) return outputs;
  const Answer answer = ask(traced, false);
  if (!answer.ok()) {
    return Error{"unreadable",
                 fmt::format("{} {} with the other file's weights: {}", traced.backend->name(),
                             to_text(answer.outcome), answer.message),
                 traced.source.path};
  }
  take_outputs(answer, *outputs);
  return outputs;
}

}  // namespace assay

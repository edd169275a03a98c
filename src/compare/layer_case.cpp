#include "compare/layer_case.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "backends/backend.h"
#include "compare/agreement.h"
#include "semantics/evaluator.h"

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Tolerance tolerance(const Tensor& expected) {
  double scale = 1;
  for (double value : expected.data<double>()) {
    if (std::isfinite(value)) scale = std::max(scale, std::abs(value));
  }
  return {1e-4, 2e-6 * scale};
}

const Node* first_unknown(const Plan& plan) {
  for (const PlannedNode& node : plan.nodes) {
    if (!node.found.entry && !node.function) return &node.node;
  }
  return nullptr;
}

// A line has numbers and not types: whole ones are held against it as reals.
Value as_reals(const Value& found) {
  if (found.kind() != Value::Kind::tensor || !is_integer(found.tensor().type())) return found;
  return make_tensor(ElementType::f64, found.tensor().shape(), found.tensor().reals());
}

void judge(const Tensor& expected, const Value& found, CaseResult& result) {
  const Agreement agreement = agrees(expected, as_reals(found), tolerance(expected));
  result.status = agreement.agrees ? CaseStatus::passed : CaseStatus::failed;
  result.detail = agreement.detail;
}

void run_on(Backend& backend, LayerCase one, CaseResult& result) {
  const std::string output = one.model.graph.outputs.front().name;
  Job job;
  job.inputs = named_inputs(one.model.graph, one.inputs);
  job.model = source_of(std::make_shared<const Model>(std::move(one.model)), "");
  const Answer answer = backend.run(job);
  result.evaluation_seconds = answer.seconds;
  if (!answer.ok()) return note_refusal(answer, result);
  if (const Value* found = answer.find(output)) {
    judge(one.expected, *found, result);
  } else {
    result.detail = fmt::format("no value of output {}", output);
  }
}

void run_case(LayerCase one, std::uint64_t seed, CaseResult& result) {
  Result<std::unique_ptr<Evaluator>> evaluator = Evaluator::make_taking(std::move(one.model));
  if (!evaluator) {
    result.detail = evaluator.error().message;
    return;
  }
  if (const Node* unknown = first_unknown((*evaluator)->plan())) {
    result.status = CaseStatus::unsupported;
    result.detail = fmt::format("{}: no layer {} is known", unknown->name, unknown->op);
    return;
  }
  EvaluateOptions options;
  options.seed = seed;
  const auto start = Clock::now();
  const Result<std::vector<Value>> found = (*evaluator)->run(one.inputs, options);
  result.evaluation_seconds = since(start);
  if (!found) {
    result.detail = found.error().message;
    return;
  }
  judge(one.expected, found->front(), result);
}

}  // namespace

CaseResult run_case_line(std::string_view line, const std::string& where, std::uint64_t seed,
                         Backend* backend) {
  CaseResult result;
  const auto start = Clock::now();
  Result<LayerCase> one = parse_case_line(line, where);
  result.id = one ? one->id : where;
  if (!one) {
    result.detail = one.error().message;
  } else if (!one->expected.defined()) {
    result.detail = "the case has no recorded output";
  } else if (backend) {
    run_on(*backend, *std::move(one), result);
  } else {
    run_case(*std::move(one), seed, result);
  }
  result.seconds = since(start);
  return result;
}

}  // namespace assay

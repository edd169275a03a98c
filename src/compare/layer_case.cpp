#include "compare/layer_case.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

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

void run_case(LayerCase one, std::uint64_t seed, CaseResult& result) {
  auto model = std::make_shared<const Model>(std::move(one.model));
  Result<std::unique_ptr<Evaluator>> evaluator = Evaluator::make(model);
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
  if (!one.expected.defined()) {
    result.detail = "the case has no recorded output";
    return;
  }
  const Agreement agreement = agrees(one.expected, found->front(), tolerance(one.expected));
  result.status = agreement.agrees ? CaseStatus::passed : CaseStatus::failed;
  result.detail = agreement.detail;
}

}  // namespace

CaseResult run_case_line(std::string_view line, const std::string& where, std::uint64_t seed,
                         Backend* backend) {
  CaseResult result;
  const auto start = Clock::now();
  Result<LayerCase> one = parse_case_line(line, where);
  if (one) {
    result.id = one->id;
    if (backend) {
      result.status = CaseStatus::unsupported;
      result.detail = "only the reference runs Keras' layers";
    } else {
      run_case(*std::move(one), seed, result);
    }
  } else {
    result.id = where;
    result.detail = one.error().message;
  }
  result.seconds = since(start);
  return result;
}

}  // namespace assay

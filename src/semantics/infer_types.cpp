#include "semantics/infer_types.h"

#include "semantics/type_walk.h"

namespace assay {

static std::vector<Known> main_inputs(const Model& model, const TypeOptions& options) {
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

}  // namespace assay

#include "compare/suspect.h"

#include "semantics/evaluator.h"

namespace assay {

std::optional<BackendTest> cut_out(const Node& node, const std::vector<Value>& inputs,
                                   const Model& model) {
  const auto imported = model.opsets.find(node.domain);
  TextCase alone;
  alone.name = node.op;
  alone.node = node;
  alone.opset = imported == model.opsets.end() ? 1 : imported->second;
  const Result<std::vector<Value>> outputs =
      evaluate_node(node, static_cast<int>(*alone.opset), inputs, Reading::value);
  if (!outputs) return std::nullopt;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    alone.inputs.push_back({node.inputs[i], inputs[i]});
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    alone.outputs.push_back({node.outputs[i], (*outputs)[i]});
  }
  return to_test(alone);
}

}  // namespace assay

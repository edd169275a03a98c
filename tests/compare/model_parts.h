// Small models for the tests of comparisons.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/make_node.h"
#include "semantics/evaluator.h"

namespace assay {

// Nodes over inputs X0, X1, … of these types; the last node's output is the model's.
inline std::shared_ptr<Model> make_model(std::vector<Node> nodes,
                                         const std::vector<Value>& inputs) {
  auto model = std::make_shared<Model>();
  model->ir_version = 8;
  model->opsets[""] = 17;
  Graph& graph = model->graph;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    graph.inputs.push_back({"X" + std::to_string(i), inputs[i].value_type()});
  }
  graph.outputs.push_back({nodes.back().outputs.front(), {}});
  graph.nodes = std::move(nodes);
  return model;
}

inline std::unique_ptr<Evaluator> make_evaluator(std::vector<Node> nodes,
                                                 const std::vector<Value>& inputs) {
  auto evaluator = Evaluator::make(make_model(std::move(nodes), inputs));
  return evaluator ? *std::move(evaluator) : nullptr;
}

}  // namespace assay

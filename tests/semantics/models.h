// Small models for tests, written in C++.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace assay {

inline Node node(std::string op, std::vector<std::string> inputs, std::vector<std::string> outputs,
                 std::vector<Attribute> attributes = {}) {
  Node result;
  result.op = std::move(op);
  result.inputs = std::move(inputs);
  result.outputs = std::move(outputs);
  result.name = result.outputs.empty() ? "" : "make_" + result.outputs.front();
  result.attributes = std::move(attributes);
  return result;
}

inline NamedType f32(std::string name, Dims dims) {
  return {std::move(name), ValueType::tensor(ElementType::f32, std::move(dims)), {}, {}};
}

inline NamedType i64(std::string name, Dims dims) {
  return {std::move(name), ValueType::tensor(ElementType::i64, std::move(dims)), {}, {}};
}

inline NamedType boolean(std::string name) {
  return {std::move(name), ValueType::tensor(ElementType::boolean, Dims{}), {}, {}};
}

inline NamedType untyped(std::string name) { return {std::move(name), {}, {}, {}}; }

inline NamedTensor integers(std::string name, std::vector<std::int64_t> values) {
  return {std::move(name), make_vector(values), {}, {}};
}

inline NamedTensor integer(std::string name, std::int64_t value) {
  return {std::move(name), make_integers(ElementType::i64, {}, std::span(&value, 1)), {}, {}};
}

inline NamedTensor reals(std::string name, std::vector<double> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return {std::move(name), make_tensor(ElementType::f32, {count}, values), {}, {}};
}

inline Model model(std::vector<Node> nodes, std::vector<NamedType> inputs,
                   std::vector<NamedType> outputs, std::vector<NamedTensor> initializers = {}) {
  Model result;
  result.ir_version = 10;
  result.opsets = {{"", 21}};
  result.graph.name = "g";
  result.graph.nodes = std::move(nodes);
  result.graph.inputs = std::move(inputs);
  result.graph.outputs = std::move(outputs);
  result.graph.initializers = std::move(initializers);
  return result;
}

inline std::shared_ptr<const Graph> graph(std::vector<Node> nodes, std::vector<NamedType> inputs,
                                          std::vector<NamedType> outputs) {
  Graph result;
  result.name = "body";
  result.nodes = std::move(nodes);
  result.inputs = std::move(inputs);
  result.outputs = std::move(outputs);
  return std::make_shared<const Graph>(std::move(result));
}

inline Node branch(std::vector<std::string> outputs, std::shared_ptr<const Graph> yes,
                   std::shared_ptr<const Graph> no) {
  return node("If", {"c"}, std::move(outputs),
              {{"then_branch", std::move(yes)}, {"else_branch", std::move(no)}});
}

}  // namespace assay

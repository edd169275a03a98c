#include "semantics/bind.h"

#include "patterns/call.h"

namespace assay {
namespace {

class Binder {
 public:
  Binder(const Function& function, const Node& call) : function_(function), call_(call) {}

  std::vector<Node> nodes(const std::vector<Node>& nodes) const {
    std::vector<Node> result = nodes;
    for (Node& node : result) {
      std::vector<Attribute> bound;
      for (Attribute& attribute : node.attributes) {
        if (auto known = value(attribute.value)) {
          bound.push_back(std::move(attribute));
          bound.back().value = *std::move(known);
        }
      }
      node.attributes = std::move(bound);
    }
    return result;
  }

 private:
  std::shared_ptr<const Graph> graph(const Graph& graph) const {
    auto result = std::make_shared<Graph>(graph);
    result->nodes = nodes(graph.nodes);
    return result;
  }

  std::optional<AttributeValue> value(const AttributeValue& value) const {
    if (const auto* reference = std::get_if<AttributeReference>(&value)) return given(*reference);
    if (const auto* one = std::get_if<std::shared_ptr<const Graph>>(&value)) {
      return AttributeValue(graph(**one));
    }
    if (const auto* many = std::get_if<std::vector<std::shared_ptr<const Graph>>>(&value)) {
      std::vector<std::shared_ptr<const Graph>> graphs;
      for (const auto& one : *many) graphs.push_back(graph(*one));
      return AttributeValue(std::move(graphs));
    }
    return value;
  }

  std::optional<AttributeValue> given(const AttributeReference& reference) const {
    if (const AttributeValue* value = call_.find(reference.name)) return *value;
    for (const Attribute& attribute : function_.attribute_defaults) {
      if (attribute.name == reference.name) return attribute.value;
    }
    return std::nullopt;
  }

  const Function& function_;
  const Node& call_;
};

}  // namespace

Graph bind_function(const Function& function, const Node& call) {
  Graph body;
  body.name = function.name;
  for (const std::string& input : function.inputs) body.inputs.push_back({input, {}, {}, {}});
  for (const std::string& output : function.outputs) body.outputs.push_back({output, {}, {}, {}});
  body.value_info = function.value_info;
  body.nodes = Binder(function, call).nodes(function.nodes);
  return body;
}

Tensor to_dense(const SparseTensor& sparse) {
  Tensor result(sparse.values.type(), sparse.shape);
  const Shape strides = strides_of(sparse.shape);
  const std::vector<std::int64_t> indices = sparse.indices.integers();
  const bool flat = sparse.indices.rank() < 2;
  const auto place = [&](std::size_t i) {
    if (flat) return indices[i];
    std::int64_t at = 0;
    for (std::size_t d = 0; d < strides.size(); ++d) {
      const std::int64_t index = indices[i * strides.size() + d];
      if (index < 0 || index >= sparse.shape[d]) return std::int64_t{-1};
      at += index * strides[d];
    }
    return at;
  };
  visit_storage(result.type(), [&]<class T>(T*) {
    const auto out = result.mutate<T>();
    const auto values = sparse.values.data<T>();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::int64_t at = place(i);
      if (at < 0 || at >= result.size()) {
        throw EvaluationError("Graph.sparse-index", "an index of a sparse tensor is out of range");
      }
      out[static_cast<std::size_t>(at)] = values[i];
    }
  });
  return result;
}

}  // namespace assay

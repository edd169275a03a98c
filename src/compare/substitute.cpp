#include "compare/substitute.h"

#include <map>

#include "formats/onnx_export.h"

namespace assay {
namespace {

// What takes the place of which elements. Copies of a model share theirs, so that where they lie
// says which weight it is, however deep inside.
using Replacements = std::map<const void*, Tensor>;

void replace(Tensor& tensor, const Replacements& replacements) {
  const auto found = tensor.size() > 0 ? replacements.find(tensor.raw()) : replacements.end();
  if (found == replacements.end() || found->second.size() != tensor.size()) return;
  tensor = found->second;
}

Graph replaced(const Graph& graph, const Replacements& replacements);

void replace(AttributeValue& value, const Replacements& replacements) {
  if (auto* tensor = std::get_if<Tensor>(&value)) {
    replace(*tensor, replacements);
  } else if (auto* graph = std::get_if<std::shared_ptr<const Graph>>(&value)) {
    if (*graph) *graph = std::make_shared<const Graph>(replaced(**graph, replacements));
  }
}

Graph replaced(const Graph& graph, const Replacements& replacements) {
  Graph result = graph;
  for (NamedTensor& one : result.initializers) replace(one.tensor, replacements);
  for (Node& node : result.nodes) {
    for (Attribute& attribute : node.attributes) replace(attribute.value, replacements);
  }
  return result;
}

Arrangement inverse(const Arrangement& arrangement) {
  Arrangement result = arrangement;
  for (std::size_t i = 0; i < arrangement.axes.size(); ++i) result.axes[arrangement.axes[i]] = i;
  return result;
}

}  // namespace

Result<Traced> substitute_weights(const Traced& a, const Trace& trace_a, const Trace& trace_b,
                                  const std::vector<WeightPair>& pairs) {
  Replacements replacements;
  for (const WeightPair& pair : pairs) {
    const Tensor& mine = trace_a.weights[pair.a.front()].tensor;
    const Tensor& other = trace_b.weights[pair.b.front()].tensor;
    const std::vector<double> elements =
        arranged(other.reals(), other.shape(), inverse(pair.arrangement));
    replacements[mine.raw()] = make_tensor(mine.type(), mine.shape(), elements);
  }
  if (replacements.empty()) return Traced{};
  Traced result = a;
  auto model = std::make_shared<Model>(*a.model);
  model->graph = replaced(a.model->graph, replacements);
  for (Function& function : model->functions) {
    for (Node& node : function.nodes) {
      for (Attribute& attribute : node.attributes) replace(attribute.value, replacements);
    }
  }
  if (a.backend) {
    Result<std::string> bytes = to_onnx(*model);
    if (!bytes) return bytes.error();
    result.source = {"", *std::move(bytes)};
  }
  result.model = std::move(model);
  return result;
}

}  // namespace assay

#include "semantics/import_tensorflow.h"

#include <algorithm>

#include "graph/order.h"
#include "layers/tensorflow/functions.h"
#include "layers/tensorflow/translate.h"
#include "semantics/infer_types.h"

namespace assay {
namespace {

using tensorflow::KnownValues;
using tensorflow::Translation;

constexpr int kMostRounds = 8;

void set_output_types(Model& model, const ModelTypes& types) {
  std::vector<NamedType>& outputs = model.graph.outputs;
  for (std::size_t i = 0; i < outputs.size() && i < types.outputs.size(); ++i) {
    outputs[i].type = types.outputs[i].type;
  }
  std::erase_if(outputs, [](const NamedType& output) {
    return output.type.kind == ValueType::Kind::unknown ||
           (output.type.is_tensor() && output.type.element == ElementType::undefined);
  });
  const auto has_rank = [](const NamedType& output) { return output.type.dims.has_value(); };
  if (std::any_of(outputs.begin(), outputs.end(), has_rank)) {
    std::erase_if(outputs, [&](const NamedType& output) { return !has_rank(output); });
  }
}

}  // namespace

Model import_tensorflow(tensorflow::GraphDef file) {
  const tensorflow::GraphDef graph = tensorflow::with_functions_inside(std::move(file));
  Translation result = translate(graph, {});
  if (!check_structure(result.model).empty()) return std::move(result.model);
  ModelTypes types = infer_types(result.model);
  for (int round = 1; round < kMostRounds; ++round) {
    KnownValues known;
    for (NamedValueType& value : types.values) known[value.name] = std::move(value.known);
    const std::size_t before = result.unresolved;
    result = translate(graph, known);
    types = infer_types(result.model);
    if (result.unresolved == 0 || result.unresolved == before) break;
  }
  set_output_types(result.model, types);
  return std::move(result.model);
}

}  // namespace assay

#include "semantics/import_tensorflow.h"

#include <algorithm>
#include <unordered_map>

#include "graph/order.h"
#include "layers/tensorflow/functions.h"
#include "layers/tensorflow/translate.h"
#include "semantics/growing_types.h"
#include "semantics/plan_order.h"

namespace assay {
namespace {

using tensorflow::KnownValues;
using tensorflow::Translation;

constexpr int kMostRounds = 8;

// Values of the main graph as it grows, and those inside of loops as the round before left them.
class KnownSoFar : public KnownValues {
 public:
  const Known* find(const Graph& so_far, const std::string& name) override {
    types_->follow(so_far);
    if (const Known* known = types_->find(name)) return known;
    const auto inside = inside_.find(name);
    return inside == inside_.end() ? nullptr : inside->second.get();
  }

  std::vector<bool> read(const Graph& whole) override { return types_->read(whole); }

  ModelTypes take(const Graph& graph) { return types_->take(graph); }

  void next_round(ModelTypes types) {
    types_ = std::make_unique<GrowingTypes>(tensorflow::translated_opsets());
    inside_.clear();
    for (NamedValueType& value : types.values) {
      inside_.emplace(std::move(value.name), std::move(value.known));
    }
  }

 private:
  std::unique_ptr<GrowingTypes> types_ =
      std::make_unique<GrowingTypes>(tensorflow::translated_opsets());
  std::unordered_map<std::string, std::shared_ptr<const Known>> inside_;
};

bool is_wrong(const Model& model, const ModelTypes& types) {
  return !(types.plan && is_in_order(model, *types.plan)) && !check_structure(model).empty();
}

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

TypedModel import_tensorflow(tensorflow::GraphDef file) {
  const tensorflow::GraphDef graph = tensorflow::with_functions_inside(std::move(file));
  KnownSoFar known;
  Translation result = translate(graph, known);
  ModelTypes types = known.take(result.model.graph);
  if (is_wrong(result.model, types)) return {std::move(result.model), nullptr};
  for (int round = 1; result.loops && round < kMostRounds; ++round) {
    const std::size_t before = result.unresolved;
    known.next_round(std::move(types));
    result = translate(graph, known);
    types = known.take(result.model.graph);
    if (is_wrong(result.model, types)) return {std::move(result.model), nullptr};
    if (result.unresolved == 0 || result.unresolved == before) break;
  }
  set_output_types(result.model, types);
  return {std::move(result.model), std::make_shared<const ModelTypes>(std::move(types))};
}

}  // namespace assay

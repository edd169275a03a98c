#include "compare/inner_variant.h"

#include <set>

#include "layers/keras/layers.h"
#include "patterns/function.h"

namespace assay {
namespace {

// The graph that the layer is on these inputs.
std::shared_ptr<const Model> body_of(const Evaluated& evaluated) {
  const PlannedNode& planned = evaluated.node;
  Site site(planned.node, static_cast<int>(planned.found.schema->since_version));
  for (const Value& input : evaluated.inputs) {
    site.inputs.emplace_back();
    site.inputs.back().present = input.present();
    if (input.present()) site.inputs.back().type = input.value_type();
  }
  site.values = evaluated.inputs;
  auto model = std::make_shared<Model>();
  model->opsets = newest_opsets();
  model->graph = compose(planned.found.entry->meaning.composition, site);
  return model;
}

Result<std::vector<Value>> read_by(const Evaluator& body, std::span<const Value> inputs,
                                   const Operator& op, const Variant& variant) {
  EvaluateOptions options;
  options.reading = Reading::bounded;
  options.replace = [&](const Evaluated& inner, std::span<Value> outputs) {
    if (inner.node.found.entry != &op) return;
    const Result<std::vector<Value>> other =
        evaluate_node(inner.node.node, static_cast<int>(inner.node.found.schema->since_version),
                      inner.inputs, Reading::bounded, variant.rewrite);
    for (std::size_t i = 0; other && i < outputs.size(); ++i) outputs[i] = (*other)[i];
  };
  return body.run(inputs, options);
}

}  // namespace

const Variant* find_inner_variant(const Evaluated& evaluated,
                                  const std::function<bool(const std::vector<Value>&)>& explains) {
  if (evaluated.node.node.domain != keras::kDomain) return nullptr;
  const Result<std::unique_ptr<Evaluator>> body = Evaluator::make(body_of(evaluated));
  if (!body) return nullptr;
  std::set<const Operator*> seen;
  for (const PlannedNode& node : (*body)->plan().nodes) {
    if (!node.found.entry || !seen.insert(node.found.entry).second) continue;
    for (const Variant& variant : node.found.entry->variants) {
      const auto other = read_by(**body, evaluated.inputs, *node.found.entry, variant);
      if (other && explains(*other)) return &variant;
    }
  }
  return nullptr;
}

}  // namespace assay

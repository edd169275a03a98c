#include "localize/exact.h"

#include <cmath>

#include "semantics/evaluator.h"

namespace assay {
namespace {

bool is_narrow_real(ElementType type) {
  return type == ElementType::f32 || type == ElementType::f16 || type == ElementType::bf16;
}

Tensor widened(const Tensor& tensor) {
  if (!is_narrow_real(tensor.type())) return tensor;
  return make_tensor(ElementType::f64, tensor.shape(), tensor.reals());
}

void widen(ValueType& type) {
  if (type.is_tensor() && is_narrow_real(type.element)) type.element = ElementType::f64;
}

// Subgraphs and functions are left alone: a model with them has no exact value here.
bool widen(Graph& graph) {
  for (auto* list : {&graph.inputs, &graph.outputs}) {
    for (NamedType& one : *list) widen(one.type);
  }
  graph.value_info.clear();
  for (NamedTensor& one : graph.initializers) one.tensor = widened(one.tensor);
  for (Node& node : graph.nodes) {
    for (Attribute& attribute : node.attributes) {
      if (auto* tensor = std::get_if<Tensor>(&attribute.value)) *tensor = widened(*tensor);
      if (std::holds_alternative<std::shared_ptr<const Graph>>(attribute.value)) return false;
      // Types stand in attributes by number: of a cast, of what is drawn or filled.
      auto* number = std::get_if<std::int64_t>(&attribute.value);
      const bool type = attribute.name == "to" || attribute.name.ends_with("dtype");
      if (number && type && is_narrow_real(static_cast<ElementType>(*number))) {
        *number = static_cast<std::int64_t>(ElementType::f64);
      }
    }
  }
  return graph.sparse_initializers.empty();
}

double distance(double exact, double found) {
  if (exact == found || (std::isnan(exact) && std::isnan(found))) return 0;
  const double apart = std::abs(exact - found);
  return std::isnan(apart) ? std::numeric_limits<double>::infinity() : apart;
}

bool is_nearer(const Tensor& exact, const Value* one, const Value* other) {
  const bool comparable = one && other && one->is_tensor() && other->is_tensor() &&
                          one->shape() == exact.shape() && other->shape() == exact.shape();
  if (!comparable) return false;
  const std::vector<double> truth = exact.reals(), first = one->tensor().reals(),
                            second = other->tensor().reals();
  for (std::size_t i = 0; i < truth.size(); ++i) {
    // Below rounding neither is nearer.
    const double slack = std::isfinite(truth[i]) ? 1e-6 * std::abs(truth[i]) : 0;
    if (distance(truth[i], first[i]) > distance(truth[i], second[i]) + slack) return false;
  }
  return true;
}

bool has_reals(const Value& value) { return value.is_tensor() && has_numbers(value.type()); }

}  // namespace

bool is_nearer_to_exact(const Model& model, std::span<const Value> inputs, const Answer& one,
                        const Answer& other) {
  auto wide = std::make_shared<Model>(model);
  if (!wide->functions.empty() || !widen(wide->graph)) return false;
  std::vector<Value> values(inputs.begin(), inputs.end());
  for (Value& value : values) {
    if (has_reals(value)) value = widened(value.tensor());
  }
  const Result<std::unique_ptr<Evaluator>> evaluator = Evaluator::make(wide);
  if (!evaluator) return false;
  const Result<std::vector<Value>> exact = (*evaluator)->run(values, {});
  if (!exact) return false;
  for (std::size_t i = 0; i < exact->size(); ++i) {
    const std::string& name = model.graph.outputs[i].name;
    if (!has_reals((*exact)[i])) return false;
    if (!is_nearer((*exact)[i].tensor(), one.find(name), other.find(name))) return false;
  }
  return true;
}

}  // namespace assay

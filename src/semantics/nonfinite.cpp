#include "semantics/nonfinite.h"

#include <algorithm>
#include <cmath>

#include "tensor/finite.h"

namespace assay {
namespace {

template <class T>
void count(std::span<const T> elements, NonFiniteCount& result) {
  if (all_finite(elements)) return;
  for (const T& x : elements) {
    result.nan += std::isnan(x) ? 1 : 0;
    result.infinite += std::isinf(x) ? 1 : 0;
  }
}

template <class T>
void count_complex(std::span<const std::complex<T>> elements, NonFiniteCount& result) {
  for (const std::complex<T>& x : elements) {
    if (std::isnan(x.real()) || std::isnan(x.imag())) {
      ++result.nan;
    } else if (std::isinf(x.real()) || std::isinf(x.imag())) {
      ++result.infinite;
    }
  }
}

NonFiniteCount count_in(const Tensor& tensor) {
  NonFiniteCount result;
  if (!tensor.defined()) return result;
  switch (storage_of(tensor.type())) {
    case Storage::f32:
      count(tensor.data<float>(), result);
      break;
    case Storage::f64:
      count(tensor.data<double>(), result);
      break;
    case Storage::c64:
      count_complex(tensor.data<std::complex<float>>(), result);
      break;
    case Storage::c128:
      count_complex(tensor.data<std::complex<double>>(), result);
      break;
    default:
      break;
  }
  return result;
}

void add(NonFiniteCount& total, const NonFiniteCount& more) {
  total.nan += more.nan;
  total.infinite += more.infinite;
}

NonFiniteCount count_all(std::span<const Value> values) {
  NonFiniteCount total;
  for (const Value& value : values) add(total, count_nonfinite(value));
  return total;
}

NonFiniteCount count_attributes(const Node& node) {
  NonFiniteCount total;
  const auto note = [&](double x) {
    total.nan += std::isnan(x) ? 1 : 0;
    total.infinite += std::isinf(x) ? 1 : 0;
  };
  for (const Attribute& attribute : node.attributes) {
    if (const auto* one = std::get_if<double>(&attribute.value)) note(*one);
    if (const auto* many = std::get_if<std::vector<double>>(&attribute.value)) {
      std::for_each(many->begin(), many->end(), note);
    }
    if (const auto* tensor = std::get_if<Tensor>(&attribute.value)) add(total, count_in(*tensor));
    if (const auto* sparse = std::get_if<std::shared_ptr<const SparseTensor>>(&attribute.value)) {
      add(total, count_in((*sparse)->values));
    }
  }
  return total;
}

}  // namespace

NonFiniteCount count_nonfinite(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::tensor:
      return count_in(value.tensor());
    case Value::Kind::sequence:
    case Value::Kind::optional:
    case Value::Kind::map:
      return count_all(value.elements());
    case Value::Kind::absent:
    case Value::Kind::unknown:
      break;
  }
  return {};
}

// Where the values that are not finite among the inputs come from. One that no node has made (an
// input of a body) may come from anything so far.
NonFiniteWatch::Origins NonFiniteWatch::origins_of_inputs(const Evaluated& evaluated) const {
  Origins origins;
  for (std::size_t i = 0; i < evaluated.inputs.size(); ++i) {
    if (!count_nonfinite(evaluated.inputs[i]).any()) continue;
    const auto known = values_.find(evaluated.node.node.inputs[i]);
    if (known != values_.end()) {
      origins.insert(known->second.begin(), known->second.end());
    } else if (!evaluated.path.empty()) {
      for (std::size_t k = 0; k < found_.size(); ++k) origins.insert(k);
    }
  }
  return origins;
}

void NonFiniteWatch::add_inner(const Evaluated& evaluated, Origins& origins) const {
  const std::string inside = evaluated.layer() + "/";
  for (std::size_t k = 0; k < found_.size(); ++k) {
    if (found_[k].node.starts_with(inside)) origins.insert(k);
  }
}

std::size_t NonFiniteWatch::note_origin(const Evaluated& evaluated, const NonFiniteCount& made,
                                        bool finite) {
  const auto [place, fresh] = index_.try_emplace(evaluated.layer(), found_.size());
  if (fresh) {
    found_.push_back(
        {place->first, evaluated.node.node.op, evaluated.steps, made, 1, finite, false});
  } else {
    ++found_[place->second].times;
  }
  return place->second;
}

void NonFiniteWatch::observe(const Evaluated& evaluated) {
  const Node& node = evaluated.node.node;
  const NonFiniteCount made = count_all(evaluated.outputs);
  if (!made.any()) {
    if (!values_.empty()) {
      for (const std::string& output : node.outputs) values_.erase(output);
    }
    return;
  }
  Origins origins = origins_of_inputs(evaluated);
  const bool composite = !evaluated.node.subgraphs.empty() || evaluated.node.function;
  if (composite) add_inner(evaluated, origins);
  NonFiniteCount given = count_all(evaluated.inputs);
  add(given, count_attributes(node));
  const bool is_origin = !given.any() || (given.nan == 0 && made.nan > 0);
  if (is_origin && !composite && !evaluated.inputs.empty() && !evaluated.unknown) {
    origins.insert(note_origin(evaluated, made, !given.any()));
  }
  for (std::size_t i = 0; i < node.outputs.size() && i < evaluated.outputs.size(); ++i) {
    if (!node.outputs[i].empty() && count_nonfinite(evaluated.outputs[i]).any()) {
      values_[node.outputs[i]] = origins;
    } else {
      values_.erase(node.outputs[i]);
    }
  }
}

std::vector<NonFiniteOrigin> NonFiniteWatch::finish(const Graph& graph,
                                                    const std::vector<Value>& outputs) {
  for (std::size_t i = 0; i < graph.outputs.size() && i < outputs.size(); ++i) {
    if (!count_nonfinite(outputs[i]).any()) continue;
    const auto known = values_.find(graph.outputs[i].name);
    if (known == values_.end()) continue;
    for (std::size_t origin : known->second) found_[origin].reaches_output = true;
  }
  return std::move(found_);
}

}  // namespace assay

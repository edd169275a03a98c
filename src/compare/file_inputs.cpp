#include "compare/file_inputs.h"

#include <algorithm>
#include <set>

#include "compare/arrangement.h"

namespace assay {
namespace {

std::set<std::string> initialized(const Graph& graph) {
  std::set<std::string> names;
  for (const NamedTensor& one : graph.initializers) names.insert(one.name);
  for (const auto& [name, sparse] : graph.sparse_initializers) names.insert(name);
  return names;
}

// Element types may differ: a conversion may have changed them.
bool fits(const ValueType& a, const ValueType& b) {
  if (a.kind != b.kind || !a.is_tensor()) return a.kind == b.kind;
  if (!a.dims || !b.dims) return true;
  return a.dims->size() == b.dims->size() &&
         std::equal(a.dims->begin(), a.dims->end(), b.dims->begin(),
                    [](const Dim& x, const Dim& y) {
                      return !(x.known() && y.known() && x.value != y.value);
                    });
}

// What both files say of an input: extents that one of them knows.
void narrow(ValueType& type, const ValueType& other) {
  if (!type.is_tensor() || !other.dims) return;
  if (!type.dims) type.dims = other.dims;
  for (std::size_t i = 0; i < type.dims->size(); ++i) {
    if (!(*type.dims)[i].known() && (*other.dims)[i].known()) (*type.dims)[i] = (*other.dims)[i];
  }
}

Value as_declared(const ValueType& type, const Value& value) {
  const bool other = value.is_tensor() && type.is_tensor() &&
                     type.element != ElementType::undefined && value.type() != type.element;
  if (!other || !has_numbers(value.tensor()) || !has_numbers(Tensor(type.element, {})))
    return value;
  return make_tensor(type.element, value.shape(), value.tensor().reals());
}

}  // namespace

PairedInputs pair_inputs(const Graph& a, const Graph& b) {
  PairedInputs paired;
  paired.of_a.assign(a.inputs.size(), kNoData);
  paired.of_b.assign(b.inputs.size(), kNoData);
  const std::set<std::string> weights_a = initialized(a), weights_b = initialized(b);
  for (std::size_t i = 0; i < a.inputs.size(); ++i) {
    if (weights_a.contains(a.inputs[i].name)) continue;
    paired.of_a[i] = paired.asked.inputs.size();
    paired.asked.inputs.push_back(a.inputs[i]);
  }
  std::vector<bool> taken(paired.asked.inputs.size());
  const auto pair = [&](bool by_name) {
    for (std::size_t j = 0; j < b.inputs.size(); ++j) {
      if (paired.of_b[j] != kNoData || weights_b.contains(b.inputs[j].name)) continue;
      for (std::size_t i = 0; i < taken.size(); ++i) {
        NamedType& candidate = paired.asked.inputs[i];
        if (taken[i] || (by_name && candidate.name != b.inputs[j].name)) continue;
        if (!fits(candidate.type, b.inputs[j].type)) continue;
        narrow(candidate.type, b.inputs[j].type);
        paired.of_b[j] = i;
        taken[i] = true;
        break;
      }
    }
  };
  pair(true);
  pair(false);
  paired.only_a = static_cast<std::size_t>(std::count(taken.begin(), taken.end(), false));
  for (std::size_t j = 0; j < b.inputs.size(); ++j) {
    if (paired.of_b[j] != kNoData || weights_b.contains(b.inputs[j].name)) continue;
    paired.of_b[j] = paired.asked.inputs.size();
    paired.asked.inputs.push_back(b.inputs[j]);
    ++paired.only_b;
  }
  return paired;
}

std::vector<Value> values_for(const Graph& graph, const std::vector<std::size_t>& which,
                              const std::vector<Value>& values) {
  std::vector<Value> result(graph.inputs.size());
  for (std::size_t i = 0; i < which.size(); ++i) {
    if (which[i] != kNoData) result[i] = as_declared(graph.inputs[i].type, values[which[i]]);
  }
  return result;
}

}  // namespace assay

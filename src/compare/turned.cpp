#include "compare/turned.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "compare/explain.h"

namespace assay {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// What covers two recordings of one value, around the first; nothing if they have nothing in
// common. Equal ones are exact: shapes and indices stay what they are.
std::optional<Value> cover(const Tensor& a, const Tensor& b) {
  if (!has_numbers(a.type()) || a.type() != b.type() || a.shape() != b.shape()) return std::nullopt;
  std::vector<double> errors = a.reals();
  const std::vector<double> other = b.reals();
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const bool same = errors[i] == other[i] || (std::isnan(errors[i]) && std::isnan(other[i]));
    const double distance = std::abs(errors[i] - other[i]);
    errors[i] = same ? 0 : std::isfinite(distance) ? distance : kInfinity;
  }
  if (std::all_of(errors.begin(), errors.end(), [](double error) { return error == 0; })) return a;
  return Value::bounded(a, errors);
}

const Tensor* find(const std::map<std::string, Tensor>& recorded, const std::string& name) {
  const auto found = recorded.find(name);
  return found == recorded.end() ? nullptr : &found->second;
}

}  // namespace

Result<std::vector<std::string>> turned_layers(const Evaluator& evaluator,
                                               const std::vector<Value>& inputs,
                                               const std::map<std::string, Tensor>& a,
                                               const std::map<std::string, Tensor>& b,
                                               std::uint64_t seed) {
  std::vector<std::string> layers;
  EvaluateOptions options;
  options.reading = Reading::bounded;
  options.seed = seed;
  options.recorded = &a;
  options.impose = true;
  options.observe = [&](const Evaluated& evaluated) {
    const Basis basis = take_basis();
    for (std::size_t i = 0; i < evaluated.outputs.size(); ++i) {
      const Tensor* found = find(b, evaluated.name(i));
      if (!found || !find(a, evaluated.name(i))) continue;
      const std::optional<Judgement> one = judge_one(evaluated, i, *found, basis);
      if (one && one->verdict == Verdict::tie) layers.push_back(evaluated.layer());
    }
    take_basis();
  };
  options.replace = [&](const Evaluated& evaluated, std::span<Value> outputs) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const Tensor *left = find(a, evaluated.name(i)), *right = find(b, evaluated.name(i));
      if (!left || !right) continue;
      if (std::optional<Value> both = cover(*left, *right)) outputs[i] = *std::move(both);
    }
  };
  const Result<std::vector<Value>> outputs = evaluator.run(inputs, options);
  if (!outputs) return outputs.error();
  return layers;
}

}  // namespace assay

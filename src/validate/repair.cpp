#include "validate/repair.h"

#include <algorithm>
#include <limits>

#include "layers/keras/layers.h"
#include "validate/edits.h"
#include "validate/validate.h"

namespace assay {
namespace {

constexpr int kMostChanges = 8;
constexpr std::size_t kMostTries = 600;

// How far a model gets before something is wrong with it, then how bad that is.
struct Standing {
  std::size_t reached = std::numeric_limits<std::size_t>::max();
  double badness = 0;

  bool better_than(const Standing& other) const {
    return reached != other.reached ? reached > other.reached : badness < other.badness;
  }
};

std::optional<std::size_t> place_of(const Model& model, const Finding& finding) {
  for (std::size_t i = 0; i < model.graph.nodes.size(); ++i) {
    const std::string& name = model.graph.nodes[i].name;
    if (finding.layer == name || finding.layer.starts_with(name + "/")) return i;
  }
  return std::nullopt;
}

// Counted from the end, which layers put in between do not move.
Standing standing(const Model& model) {
  const ValidationResult result = validate(model);
  if (result.valid()) return {};
  const auto place = place_of(model, result.findings.front());
  double badness = 0;
  for (const Finding& finding : result.findings) badness += finding.badness;
  constexpr std::size_t kBase = std::numeric_limits<std::size_t>::max() / 2;
  return {place ? kBase - (model.graph.nodes.size() - *place) : 0, badness};
}

Model with_edit(const Model& model, std::size_t index, const Edit& edit) {
  Model changed = model;
  auto& nodes = changed.graph.nodes;
  nodes[index] = edit.node;
  nodes.insert(nodes.begin() + static_cast<std::ptrdiff_t>(index), edit.before.begin(),
               edit.before.end());
  for (const NamedTensor& weight : edit.weights) {
    auto& all = changed.graph.initializers;
    const auto old = std::ranges::find(all, weight.name, &NamedTensor::name);
    old == all.end() ? all.push_back(weight) : void(*old = weight);
  }
  // What the model declares of its outputs is what the layers made of it before.
  for (NamedType& output : changed.graph.outputs) output.type.dims.reset();
  return changed;
}

}  // namespace

std::optional<Repair> repair(const Model& model) {
  if (!model.opsets.contains(std::string(keras::kDomain))) return std::nullopt;
  Repair result{model, {}};
  for (int round = 0; round < kMostChanges; ++round) {
    const ValidationResult now = validate(result.model);
    if (now.valid()) return result;
    const auto index = place_of(result.model, now.findings.front());
    if (!index || result.model.graph.nodes[*index].domain != keras::kDomain) return std::nullopt;
    const std::vector<Edit> edits = possible_edits(result.model, infer_types(result.model), *index);
    Standing best = standing(result.model);
    std::optional<Model> chosen;
    LayerChange change{result.model.graph.nodes[*index].name, ""};
    for (std::size_t i = 0; i < std::min(edits.size(), kMostTries); ++i) {
      Model candidate = with_edit(result.model, *index, edits[i]);
      const Standing reached = standing(candidate);
      if (!reached.better_than(best)) continue;
      best = reached;
      chosen = std::move(candidate);
      change.what = edits[i].what;
      if (best.reached == Standing().reached) break;
    }
    if (!chosen) return std::nullopt;
    result.model = *std::move(chosen);
    result.changes.push_back(std::move(change));
  }
  return validate(result.model).valid() ? std::optional<Repair>(std::move(result)) : std::nullopt;
}

}  // namespace assay

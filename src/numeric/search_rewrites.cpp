// Changes of the model that make operations safe. Each is tried on the operation alone, and all of
// them together on the whole model.
#include <algorithm>

#include "numeric/idioms/idiom.h"
#include "numeric/search.h"

namespace assay {
namespace {

constexpr std::size_t kMostIdioms = 16;  // operations around which idioms are looked for
constexpr double kShare = 0.6;           // of the time

std::size_t count_unsafe(const Assessment& judgement) {
  return static_cast<std::size_t>(
      std::count_if(judgement.nodes.begin(), judgement.nodes.end(), is_unsafe));
}

}  // namespace

// The operation by itself, on the ranges that it gets, with the guard before it.
bool LintSearch::works_alone(const LintSite& site, const Rewrite& guard) const {
  Model model;
  model.ir_version = model_->ir_version;
  model.opsets = model_->opsets;
  model.functions = model_->functions;
  model.graph.nodes = {site.node->node};
  Node& node = model.graph.nodes[0];
  std::map<std::string, Abstract> values;
  std::map<std::string, ValueType> types;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i].empty()) continue;
    Abstract value = site.inputs[i];
    for (Cell& cell : value.cells) cell.form = 0;
    types[node.inputs[i]] = value.type;
    if (value.exact.defined())
      model.graph.initializers.push_back({node.inputs[i], value.exact, {}, {}});
    else
      model.graph.inputs.push_back({node.inputs[i], value.type, {}, {}});
    values[node.inputs[i]] = std::move(value);
  }
  for (const std::string& output : node.outputs)
    if (!output.empty()) model.graph.outputs.push_back({output, {}, {}, {}});
  const auto type_of = [&](const std::string& name) { return types[name]; };
  if (!apply_rewrite(guard, site.node->label(), type_of, model.graph)) return false;
  std::erase_if(values, [&](const auto& one) { return one.second.exact.defined(); });
  return count_unsafe(Assessor(model, options_->setting, {}).judge(values)) == 0;
}

// What the operation reads may be of a graph around its own.
TypeOf LintSearch::types_around(const LintSite& site) const {
  return [this, &site](const std::string& name) {
    const std::vector<std::string>& inputs = site.node->node.inputs;
    const auto own = std::find(inputs.begin(), inputs.end(), name);
    if (own != inputs.end())
      return site.inputs[static_cast<std::size_t>(own - inputs.begin())].type;
    return assessor_.type_of(site.path + name);
  };
}

std::optional<Rewrite> LintSearch::guard_of(const LintSite& site) const {
  for (const Rewrite& guard : guards_for(site))
    if (works_alone(site, guard)) return guard;
  return std::nullopt;
}

std::optional<Assessment> LintSearch::rewritten(const Assessment& judgement,
                                                const std::vector<Candidate>& candidates) const {
  Model changed = *model_;
  std::vector<std::pair<std::string, Rewrite>> done;
  for (const Candidate& candidate : candidates) {
    const LintSite& site = judgement.sites[candidate.node];
    const std::pair<std::string, Rewrite> key{
        candidate.rewrite.inputs.empty() ? site.path : site.path + site.node->label(),
        candidate.rewrite};
    if (std::find(done.begin(), done.end(), key) != done.end()) continue;
    bool placed = false;
    const TypeOf type_of = types_around(site);
    const bool found = edit_graph(changed, site.path, [&](Graph& graph) {
      placed = apply_rewrite(candidate.rewrite, site.node->label(), type_of, graph);
    });
    // An operation that an earlier rewrite took away needs none.
    if (found && placed) done.push_back(key);
  }
  if (done.empty()) return std::nullopt;
  Assessment after = Assessor(changed, options_->setting, roots_->overrides).judge(roots_->values);
  for (LintSite& site : after.sites) site.node = nullptr;  // of a plan that is gone
  return after;
}

// Operations that are safe after the change, if there is no danger that was not there before. What
// is too large behind an unsafe operation was there, but is only told now.
void LintSearch::keep_verified(const std::vector<Candidate>& candidates, const Assessment& after,
                               Assessment& judgement) const {
  for (std::size_t n = 0; n < after.nodes.size(); ++n) {
    const bool fresh = is_unsafe(after.nodes[n]) && is_safe(judgement, after.nodes[n].name);
    if (fresh && after.sites[n].remedy != Remedy::size) return;
  }
  for (const Candidate& candidate : candidates) {
    LintNode& node = judgement.nodes[candidate.node];
    if (!is_safe(after, node.name) || node.fix) continue;
    node.fix = LintFix{candidate.rewrite.name, candidate.rewrite.text, {}, {}};
    if (candidate.rewrite.check.empty()) continue;
    node.check = candidate.rewrite.check;
    node.why += "; " + candidate.rewrite.why;
  }
}

void LintSearch::find_rewrites(Assessment& judgement) {
  std::vector<Candidate> idioms, guards;
  std::size_t looked = 0;
  for (std::size_t n = 0; n < judgement.nodes.size() && has_time(kShare / 2); ++n) {
    const LintSite& site = judgement.sites[n];
    if (!is_unsafe(judgement.nodes[n]) || !site.node) continue;
    if (const auto guard = guard_of(site)) guards.push_back({n, *guard});
    if (++looked > kMostIdioms) continue;
    const TypeOf type_of = types_around(site);
    if (const Graph* graph = find_graph(*model_, site.path))
      for (const Rewrite& idiom : idioms_around(*graph, *model_, site.node->node, type_of)) {
        idioms.push_back({n, idiom});
        break;
      }
  }
  // What is written by hand is better replaced than guarded.
  for (const std::vector<Candidate>* candidates : {&idioms, &guards}) {
    if (candidates->empty() || !has_time(kShare)) continue;
    if (const auto after = rewritten(judgement, *candidates))
      keep_verified(*candidates, *after, judgement);
  }
  for (const Candidate& guard : guards) {
    if (judgement.nodes[guard.node].fix || !has_time(kShare)) continue;
    if (const auto after = rewritten(judgement, {guard})) keep_verified({guard}, *after, judgement);
  }
}

}  // namespace assay

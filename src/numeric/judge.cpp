#include "numeric/judge.h"

#include <algorithm>
#include <set>

#include "numeric/checks/check.h"
#include "numeric/checks/node_checks.h"
#include "numeric/range_path.h"
#include "numeric/shown_name.h"

namespace assay {
namespace {

std::string name_of(const std::string& path, const PlannedNode& node) {
  return shown_name(node.node, path + node.label());
}

// The worst that the functions of a node's body can meet; `checked` tells whether a check is about
// any of them.
struct Found {
  bool checked = false;
  std::string check;
  Interval range = Interval::no_number(false);
  std::optional<Danger> danger;
  Remedy remedy = Remedy::none;
  const NumericCheck* failed = nullptr;
  Applied applied;
};

void examine(const Applied& applied, const NumericCheck& check, Found& found) {
  std::optional<Danger> danger = check.judge(applied);
  const Interval& argument = check.function == Operation::divide ? applied.b : applied.a;
  if (!found.checked || (danger && !found.danger)) found.check = check.id;
  found.checked = true;
  if (!found.danger)
    found.range = danger                     ? danger->argument
                  : found.range.has_number() ? hull(found.range, argument)
                                             : argument;
  if (danger && (!found.danger || (danger->certain && !found.danger->certain))) {
    found.range = danger->argument;
    found.check = check.id;
    found.danger = std::move(danger);
    found.remedy = Remedy::argument;
    found.failed = &check;
    found.applied = applied;
  }
}

Found examine(const Analyzed& seen) {
  Found found;
  const bool integers = !seen.outputs.empty() && seen.outputs[0].is_tensor() &&
                        !is_real(seen.outputs[0].type.element) &&
                        std::none_of(seen.inputs.begin(), seen.inputs.end(),
                                     [](const Abstract& x) { return x.real(); });
  for (Applied applied : seen.applied) {
    if (integers) applied.smallest = 1;  // an integer divisor between -1 and 1 is 0
    for (const NumericCheck& check : numeric_checks())
      if (check.function == applied.function) examine(applied, check, found);
  }
  for (const NodeCheck& check : node_checks()) {
    if (found.danger) break;
    found.danger = check.judge(seen);
    if (!found.danger) continue;
    found.checked = true;
    found.check = check.id;
    found.range = found.danger->argument;
    found.remedy = check.remedy;
  }
  return found;
}

void note_ranges(const Analyzed& seen, Assessment& result) {
  for (std::size_t i = 0; i < seen.outputs.size(); ++i)
    if (seen.outputs[i].is_tensor())
      result.ranges[seen.node.node.outputs[i]] = {to_text(seen.outputs[i].type),
                                                  hull_of(seen.outputs[i])};
}

class Judge {
 public:
  void operator()(const Analyzed& seen) {
    Found found = examine(seen);
    if (!found.checked && !seen.unreachable && !seen.unknown) return;
    const std::string name = name_of(seen.path, seen.node);
    if (seen.unknown && unknown_.insert(name).second)
      result.unknown.emplace_back(name, seen.reason);
    if (!found.checked && !seen.unreachable) return;
    LintNode node;
    node.name = name;
    node.op = origin_op(seen.node.node);
    node.check = found.check;
    node.range = found.range;
    node.verdict = found.danger ? LintVerdict::warning : LintVerdict::safe;
    node.why = found.danger ? found.danger->why : "every argument is in the domain";
    if (seen.unreachable) {
      node.verdict = LintVerdict::unreachable;
      node.why = "no value gets here";
    }
    RootSet depends, mixed;
    for (const Abstract& input : seen.inputs) depends.add(input.roots);
    for (const Abstract& output : seen.outputs) mixed.add(output.mixed);
    LintSite site;
    if (node.verdict == LintVerdict::warning)
      site = {&seen.node,
              seen.path,
              {seen.inputs.begin(), seen.inputs.end()},
              seen.outputs.empty() ? ElementType::undefined : seen.outputs[0].type.element,
              found.remedy,
              found.failed,
              found.applied};
    // An operation of a framework may stand as several nodes: they share a name and a verdict.
    const auto [place, fresh] = places_.try_emplace(name, result.nodes.size());
    if (fresh) {
      result.nodes.push_back(std::move(node));
      result.roots.push_back(std::move(depends));
      result.mixed.push_back(std::move(mixed));
      result.sites.push_back(std::move(site));
    } else {
      result.roots[place->second].add(depends);
      result.mixed[place->second].add(mixed);
      if (!site.node || result.sites[place->second].node) return;
      result.nodes[place->second] = std::move(node);
      result.sites[place->second] = std::move(site);
    }
  }

  Assessment result;

 private:
  std::map<std::string, std::size_t> places_;
  std::set<std::string> unknown_;
};

}  // namespace

Assessor::Assessor(const Model& model, const Setting& setting,
                   std::map<std::string, Interval> overrides,
                   std::shared_ptr<const ModelTypes> types)
    : analysis_(model, {setting, std::move(overrides),
                        [this](const Analyzed& seen) { observe_(seen); }, std::move(types)}) {}

void Assessor::analyse(const std::map<std::string, Abstract>& values) {
  analysis_.inputs = values;
  analysis_.run();
}

Assessment Assessor::judge(const std::map<std::string, Abstract>& values) {
  Judge judge;
  observe_ = [&](const Analyzed& seen) { judge(seen); };
  analyse(values);
  return std::move(judge.result);
}

Assessment Assessor::judge_with_paths(const std::map<std::string, Abstract>& values,
                                      bool keep_ranges) {
  Judge judge;
  RangePaths paths;
  observe_ = [&](const Analyzed& seen) {
    judge(seen);
    paths.note(seen);
    if (keep_ranges && seen.path.empty()) note_ranges(seen, judge.result);
  };
  analyse(values);
  Assessment& result = judge.result;
  for (std::size_t n = 0; n < result.nodes.size(); ++n)
    if (const LintSite& site = result.sites[n]; site.node)
      result.nodes[n].path = paths.to(*site.node, site.path, site.inputs);
  return std::move(result);
}

bool Assessor::proves(const std::string& name, const std::map<std::string, Abstract>& values) {
  auto needed = needed_.find(name);
  if (needed == needed_.end()) {
    const auto is_named = [&](const std::string& path, const PlannedNode& node) {
      return name_of(path, node) == name;
    };
    needed = needed_.emplace(name, analysis_.needed_for(is_named)).first;
  }
  Judge judge;
  observe_ = [&](const Analyzed& seen) {
    if (name_of(seen.path, seen.node) == name) judge(seen);
  };
  analysis_.inputs = values;
  analysis_.run(&needed->second);
  return is_safe(judge.result, name);
}

Assessment judge(const Model& model, const Roots& roots, const Setting& setting) {
  Assessment result = Assessor(model, setting, roots.overrides).judge(roots.values);
  result.sites.clear();
  return result;
}

bool is_safe(const Assessment& judgement, const std::string& name) {
  const auto found = std::find_if(judgement.nodes.begin(), judgement.nodes.end(),
                                  [&](const LintNode& node) { return node.name == name; });
  return found == judgement.nodes.end() || found->verdict != LintVerdict::warning;
}

}  // namespace assay
